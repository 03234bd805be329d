# syntax=docker/dockerfile:1
# The GPU image: strictcall with vLLM's CUDA build. The torch and NVIDIA wheels carry the CUDA libraries; the driver comes from
# the host through the NVIDIA Container Toolkit (docker run --gpus all). Model weights are not in the image: mount /models.
#
#   docker build -t strictcall .
#   docker run --gpus all --ipc=host -p 8000:8000 -v strictcall-models:/models strictcall --model Qwen/Qwen2.5-7B-Instruct

FROM python:3.12-slim-bookworm AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_COMPILE=1
RUN python -m venv /opt/strictcall
ENV PATH=/opt/strictcall/bin:$PATH
WORKDIR /src
# Dependencies (gigabytes) first, from pyproject.toml and empty packages: a change of the source does not install them
# anew. Versions are pyproject's (hence the DL3013).
COPY pyproject.toml README.md ./
# hadolint ignore=DL3013
RUN mkdir schemas decoding server loadtest \
    && touch schemas/__init__.py decoding/__init__.py server/__init__.py loadtest/__init__.py \
    && pip install --no-cache-dir '.[gpu]' \
    && pip uninstall --yes strictcall
COPY schemas schemas
COPY decoding decoding
COPY server server
COPY loadtest loadtest
RUN pip install --no-cache-dir --no-deps . && strictcall --version

FROM python:3.12-slim-bookworm
# Triton compiles small C stubs when vLLM starts, so the image needs a compiler at run time.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc g++ libc6-dev \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home --shell /usr/sbin/nologin strictcall \
    && install --directory --owner strictcall --group strictcall /models
COPY --from=build /opt/strictcall /opt/strictcall
ENV PATH=/opt/strictcall/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    HF_HOME=/models \
    NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility \
    STRICTCALL_HOST=0.0.0.0 \
    STRICTCALL_PORT=8000
USER 10001
WORKDIR /home/strictcall
VOLUME ["/models"]
EXPOSE 8000
# Alive, not ready: a large model loads for minutes, and a restart would not help it.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen('http://127.0.0.1:' + os.environ['STRICTCALL_PORT'] + '/health/live', timeout=4)"]
ENTRYPOINT ["strictcall", "serve"]
