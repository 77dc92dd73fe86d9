import hashlib
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Request:
    """A parsed request.

    Args:
        text: Texts of the messages before the first assistant answer, a line each; or an image's prompt.
        content: Hash of text and images.
        key: Hash of text, images and seed, 24 hexadecimal digits.
        conversation: Hash of all messages with their images and the seed.
    """

    text: str
    content: str
    key: str
    conversation: str
    images: int = 0
    turns: int = 1


class InvalidError(Exception):
    """A request that the protocol does not allow; `param` and `code` go into the reply."""

    def __init__(self, message: str, param: str, code: str = "invalid_request") -> None:
        super().__init__(message)
        self.param, self.code = param, code


def chat_request(body: dict[str, Any]) -> Request:
    """Parse a body of `/chat/completions`. InvalidError without messages of a known form."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise InvalidError("messages is a list of at least one message", "messages")
    asked: list[str] = []
    shown: list[str] = []
    said: list[str] = []
    answered = False
    for number, message in enumerate(messages):
        role, texts, images = _message(message, f"messages[{number}]")
        answered = answered or role == "assistant"
        said += [role, *texts, *images]
        if not answered:
            asked += texts
            shown += images
    text, seed = "\n".join(asked), body.get("seed")
    content = _hash(text, *shown)
    return Request(text, content, _key(content, seed), _hash(*said, str(seed)), len(shown), len(messages))


def image_request(body: dict[str, Any]) -> Request:
    """Parse a body of `/images/generations`. InvalidError without a prompt."""
    prompt = body.get("prompt")
    if not isinstance(prompt, str) or not prompt:
        raise InvalidError("prompt is a text", "prompt")
    content = _hash(prompt)
    key = _key(content, body.get("seed"))
    return Request(prompt, content, key, key)


def unit(*parts: object) -> float:
    """A number in [0, 1) that depends on the parts alone."""
    return int(_hash(*map(str, parts))[:12], 16) / 16**12


def _message(message: object, place: str) -> tuple[str, list[str], list[str]]:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise InvalidError("a message is an object with a role", place)
    content = message.get("content")
    if content is None or isinstance(content, str):
        return message["role"], [content or ""], []
    if not isinstance(content, list):
        raise InvalidError("the content of a message is a text or a list of parts", f"{place}.content")
    texts, images = [], []
    for part in content:
        match part:
            case {"type": "text", "text": str(text)}:
                texts.append(text)
            case {"type": "refusal", "refusal": str(text)}:
                texts.append(text)
            case {"type": "image_url", "image_url": {"url": str(url)}}:
                images.append(_hash(url))
            case _:
                raise InvalidError("a part is a text or an image_url", f"{place}.content")
    return message["role"], texts, images


def _key(content: str, seed: object) -> str:
    return _hash(content, str(seed))[:24]


def _hash(*parts: str) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()
