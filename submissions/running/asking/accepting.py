"""The rule for answers: a text whose end is known is one. All else has failed, in the provider's own words.

Two places hold the rule. `read_strictly` reads what servers of the OpenAI protocol send with status 200, before a
client package turns null into '' and loses the server's words: no answer becomes the error status that it is, which is
asked again as such. `fault_of` reads the outputs of all providers. `remedy` names the setting that a server rejected.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from fairspace.submissions.format.faults import show

if TYPE_CHECKING:
    from inspect_ai.model import ModelAPI, ModelOutput

_ENDS = {
    **dict.fromkeys(("stop", "eos", "eos_token", "stop_sequence", "end_turn"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "repetition"), "length"),
    **dict.fromkeys(("content_filter", "model_length"), ""),
}
"""Known `finish_reason` of servers -> the protocol's word; '' for those that stay as they are."""
_REASONING = ("reasoning", "reasoning_content", "reasoning_details")
_TOKENS = ("prompt_tokens", "completion_tokens", "total_tokens")
_ASIDE = "no text but reasoning, in "
NONE = "no_answer"
"""Type of the errors made here."""
_AGAIN, _USELESS = 502, 422
"""Status of a failure that passes by itself, for which a client waits; of one that the same request meets again."""


def fault_of(output: ModelOutput) -> str:
    """Why an output is no answer; '' for a text whose end is known, and for a refusal."""
    if output.error or not output.choices:
        return output.error or "an answer without content"
    if calls := output.message.tool_calls:
        return f"a call of the tool {show(calls[0].function)} in place of a text"
    # Inspect makes an output of an error that speaks of the context; no tokens were counted for it.
    if output.stop_reason == "model_length" and output.usage is None:
        return f"{output.completion.rstrip('.')}{remedy(output.completion)}"
    reasons = ("stop", "max_tokens", "model_length", "content_filter")
    return "" if output.stop_reason in reasons else f"an unknown reason to stop, after {show(output.completion)}"


def read_strictly(api: ModelAPI) -> None:
    """Have a provider's client read chat completions by the rule; clients of other protocols stay as they are."""
    client: Any = getattr(api, "http_client", None)
    if client is None:
        return
    send = client.send

    async def read(request: Any, *, stream: bool = False, **more: Any) -> Any:
        response = await send(request, stream=stream, **more)
        if stream or response.status_code != 200 or not request.url.path.endswith("/chat/completions"):
            return response
        kind = response.headers.get("content-type", "")
        try:
            sent = orjson.loads(response.content)
        except orjson.JSONDecodeError:
            if "event-stream" not in kind and not response.text.startswith(("data:", "event:")):
                return response  # a broken text or a page, which the client names
            sent = {"error": f"an event stream, which nobody asked for: {show(response.text)}", "code": _USELESS}
        status, body = completion_of(sent)
        if status == 200 and body == sent and "json" in kind:
            return response
        headers = {name: value for name, value in response.headers.items() if name.startswith(("retry", "x-"))}
        headers["content-type"] = "application/json"
        return type(response)(status, headers=headers, content=orjson.dumps(body), request=request)

    client.send = read


def completion_of(sent: Any) -> tuple[int, Any]:
    """Status and body of a chat completion sent with status 200: an answer with its text in one piece, or an error."""
    body = sent if isinstance(sent, dict) else {}
    choices = body.get("choices")
    usage = {name: body["usage"].get(name) or 0 for name in _TOKENS} | body["usage"] if body.get("usage") else None
    filled = {"id": "", "object": "chat.completion", "created": 0, "model": "", **body, "usage": usage}
    if choices == [] and not body.get("error"):
        return 200, filled
    choice = choices[0] if isinstance(choices, list) else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if body.get("error") or not isinstance(choice, dict) or not isinstance(message, dict):
        return _failed(body.get("error") or body or f"no chat completion: {show(sent)}", body)
    finish = choice.get("finish_reason")
    if choice.get("error") or finish == "error":
        return _failed(choice.get("error") or f"finish_reason 'error', after {show(message.get('content'))}", body)
    text, fault = _text_of(message, str(finish).lower())
    if fault:
        ended = "max_tokens" if finish == "length" and fault.startswith(_ASIDE) else None
        return _failed({"message": fault, "param": ended}, body, _USELESS)
    end = _ENDS[str(finish).lower()] or finish
    answer = {"index": 0, **choice, "finish_reason": end, "message": {"role": "assistant", **message, "content": text}}
    return 200, {**filled, "choices": [answer]}


def _text_of(message: Mapping[str, Any], finish: str) -> tuple[str | None, str]:
    """The text of a message, and why it is no answer; None for a text withheld by a filter or refused."""
    content = message.get("content")
    aside = next((name for name in _REASONING if message.get(name)), "")
    if isinstance(content, list):
        pieces = [{"type": "text", "text": each} if isinstance(each, str) else each for each in content]
        kinds = {str(each.get("type")) if isinstance(each, dict) else type(each).__name__ for each in pieces}
        if other := kinds - {"text", "output_text", "thinking", "reasoning"}:
            return None, f"content with a part of type {show(min(other))}, not a text"
        aside = aside or ("content" if kinds & {"thinking", "reasoning"} else "")
        content = "".join(str(each.get("text", "")) for each in pieces if each["type"] in ("text", "output_text"))
    calls = message.get("tool_calls") or message.get("function_call")
    if calls or finish in ("tool_calls", "function_call"):
        return None, f"a tool call in place of a text: {show(calls)}"
    if finish not in _ENDS:
        return None, f"finish_reason {show(finish)}, after {show(content)}. Expected: stop or length"
    if content is None and (message.get("refusal") or finish == "content_filter"):
        return None, ""
    if aside and (content is None or str(content).strip() == ""):
        return None, f"{_ASIDE}`{aside}`: {show(message.get(aside))}"
    if not isinstance(content, str):
        return None, f"content {show(content)}, not a text"
    return content, ""


def _failed(error: Any, body: Mapping[str, Any], status: int = _AGAIN) -> tuple[int, Any]:
    """Status and body of an error, with the tokens that it cost; a status that it names itself is taken."""
    words = error if isinstance(error, dict) else {"message": str(error)}
    more = {name: value for name, value in words.items() if name not in ("message", "type", "param") and value}
    phrase = " ".join(str(words.get(name) or body.get(name) or "") for name in ("code", "status", "type")).lower()
    if code := re.search(r"\b[45]\d\d\b", phrase):
        status = int(code[0])
    elif re.search("rate.?limit|too.?many", phrase):
        status = 429
    elif "invalid" in phrase:
        status = 400
    message = f"{words.get('message') or ''} {orjson.dumps(more).decode() if more else ''}".strip()
    error_body = {**words, "type": NONE, "message": message, "usage": body.get("usage")}
    return status, {"error": error_body}


_MENDS = {
    "max_tokens": "give another -M max_tokens=N, or max_tokens=default to send none",
    "max_completion_tokens": "give another -M max_completion_tokens=N, or -M max_tokens=N in its place",
    "context": "give a smaller -M max_tokens=N, or a model with a longer context",
    "temperature": "give -M temperature=1, or temperature=default to send none",
    "top_p": "give -M top_p=1, or top_p=default to send none",
    "seed": "leave out --seed",
    "response_format": "leave out --form json",
}
"""Parameter of a request -> what a user does if a server rejects it."""
_PARAMETER = re.compile(rf"\b({'|'.join(_MENDS)}|(?:output|completion|new) tokens)\b")


def remedy(words: str, error: BaseException | None = None) -> str:
    """The mend of a request rejected for a parameter, to follow the provider's words; '' for other errors."""
    status = getattr(error, "status_code", getattr(error, "code", None))
    if error is not None and status not in (400, 422):
        return ""
    words = "" if getattr(error, "type", "") == NONE else words  # which quote a model
    parameters = _PARAMETER.findall(f"{getattr(error, 'param', '') or ''} {words}")
    if not parameters:
        return ""
    if parameters[0] == "max_tokens" and "max_completion_tokens" in parameters:
        return ". Mend: give -M max_completion_tokens=N in place of max_tokens"
    return f". Mend: {_MENDS.get(parameters[0], _MENDS['max_tokens'])}"
