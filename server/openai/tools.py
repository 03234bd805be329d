"""``tools`` and ``tool_choice`` as Chat Completions writes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from decoding.tools import ToolChoice
from server.asking import ToolSpec
from server.errors import bad_request
from server.openai.messages import Many, Name, Wire

MAX_TOOLS = 128


class Function(Wire):
    name: Name
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class FunctionTool(Wire):
    type: Literal["function"]
    function: Function


class CustomTool(Wire):
    type: Literal["custom"]


ChatTool: TypeAlias = Annotated[FunctionTool | CustomTool, Field(discriminator="type")]


class FunctionName(Wire):
    name: str


class NamedFunction(Wire):
    type: Literal["function"]
    function: FunctionName


class NamedCustom(Wire):
    type: Literal["custom"]


class AllowedTools(Wire):
    mode: Literal["auto", "required"]
    tools: Many[Annotated[NamedFunction | NamedCustom, Field(discriminator="type")]]


class AllowedToolsChoice(Wire):
    type: Literal["allowed_tools"]
    allowed_tools: AllowedTools


ChoiceObject: TypeAlias = Annotated[NamedFunction | NamedCustom | AllowedToolsChoice, Field(discriminator="type")]


def tool_specs(tools: list[ChatTool] | None) -> tuple[ToolSpec, ...]:
    """The tools on offer. Raises ApiError for what cannot be one."""
    if tools is None:
        return ()
    if not tools:
        raise bad_request(
            "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            "tools",
            "empty_array",
        )
    if len(tools) > MAX_TOOLS:
        raise bad_request(
            f"Invalid 'tools': array too long. Expected an array with maximum length {MAX_TOOLS}, but got an array "
            f"with length {len(tools)} instead.",
            "tools",
            "array_above_max_length",
        )
    specs: dict[str, ToolSpec] = {}
    for i, tool in enumerate(tools):
        if isinstance(tool, CustomTool):
            raise bad_request(
                "Custom tools are not supported by this server; declare the tool as type 'function'.",
                f"tools[{i}].type",
                "unsupported_tool_type",
            )
        function = tool.function
        if function.name in specs:
            raise bad_request(
                f"Two tools are called {function.name!r}; names must differ.",
                f"tools[{i}].function.name",
                "duplicate_tool_name",
            )
        specs[function.name] = ToolSpec(
            function.name,
            function.description or "",
            function.parameters,
            function.strict,
            f"tools[{i}].function.parameters",
        )
    return tuple(specs.values())


def chosen(choice: str | NamedFunction | NamedCustom | AllowedToolsChoice | None, offered: list[str]) -> ToolChoice:
    """What the model may do. Raises ApiError for a choice that the offered tools do not allow."""
    if choice is None:
        return ToolChoice("auto" if offered else "none", None)
    if isinstance(choice, str):
        if choice == "required" and not offered:
            raise _needs_tools()
        return ToolChoice("none" if not offered else _mode(choice), None)
    if not offered:
        raise _needs_tools()
    if isinstance(choice, AllowedToolsChoice):
        allowed = choice.allowed_tools
        if not allowed.tools:
            raise bad_request(
                "'tool_choice.allowed_tools.tools' is empty; use tool_choice 'none' to allow no tool.",
                "tool_choice.allowed_tools.tools",
                "empty_array",
            )
        names = tuple(dict.fromkeys(_offered_name(tool, offered) for tool in allowed.tools))
        return ToolChoice(allowed.mode, names)
    return ToolChoice("required", (_offered_name(choice, offered),), once=True)


def _mode(choice: str) -> Literal["none", "auto", "required"]:
    if choice == "none":
        return "none"
    return "required" if choice == "required" else "auto"


def _offered_name(tool: NamedFunction | NamedCustom, offered: list[str]) -> str:
    if isinstance(tool, NamedCustom):
        raise bad_request(
            "Custom tools are not supported by this server; name a function.", "tool_choice", "unsupported_tool_type"
        )
    name = tool.function.name
    if name not in offered:
        raise bad_request(f"Tool choice {name!r} not found in 'tools' parameter.", "tool_choice")
    return name


def _needs_tools() -> Exception:
    return bad_request(
        "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.", "tool_choice"
    )
