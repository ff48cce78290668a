"""Stand-in for the package `anthropic`: see openai.py."""
import openai

openai.PATHS["messages.create"] = "/v1/messages"


class Anthropic(openai.OpenAI):
    pass
