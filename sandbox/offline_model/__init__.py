"""The offline model: an OpenAI-compatible endpoint that follows fixed rules.

It is not a language model. It lets everything be tried without a key, over real HTTP and
through the ordinary `openai` package. What it does, rule by rule: `docs/offline-model.md`.
It keeps nothing between requests: the next answer follows from the message list alone.
"""

CHAT_MODEL = "offline-rules"
EMBEDDING_MODEL = "offline-hash-384"
