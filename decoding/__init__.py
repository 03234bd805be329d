"""Tools, tool choice and call format → one grammar for the answer; model text → events; conversation → prompt."""

from decoding.answer_reader import AnswerReader
from decoding.events import ArgumentsDelta, CallFinished, CallStarted, Event, Finished, FinishReason, Reasoning, Text
from decoding.formats import Format
from decoding.grammar import ToolGrammar, json_grammar, offered_tools, tool_grammar
from decoding.ids import new_call_id
from decoding.reader import Reader
from decoding.rendering import RenderError, render_prompt, render_text
from decoding.stops import StopScanner
from decoding.tools import Tool, ToolChoice, argument_schema, tool_choice_from_wire, tool_from_wire

__all__ = [
    "AnswerReader",
    "ArgumentsDelta",
    "CallFinished",
    "CallStarted",
    "Event",
    "FinishReason",
    "Finished",
    "Format",
    "Reader",
    "Reasoning",
    "RenderError",
    "StopScanner",
    "Text",
    "Tool",
    "ToolChoice",
    "ToolGrammar",
    "argument_schema",
    "json_grammar",
    "new_call_id",
    "offered_tools",
    "render_prompt",
    "render_text",
    "tool_choice_from_wire",
    "tool_from_wire",
    "tool_grammar",
]
