"""Stand-in for the package `openai`, which the test machines have no source for. It sends the arguments of a method as the body of the
call that the package makes, and offers the members of the response as attributes. A test of the pages, not of the package."""
import json
import urllib.error
import urllib.request

PATHS = {
    "chat.completions.create": "/chat/completions",
    "responses.create": "/responses",
    "embeddings.create": "/embeddings",
    "audio.speech.create": "/audio/speech",
}


# Members that the package has as None where a response leaves them out.
OPTIONAL = {"content"}


class APIStatusError(Exception):
    def __init__(self, status, error):
        super().__init__(f"{status} {error}")
        self.code = error.get("code")


class PermissionDeniedError(APIStatusError):
    pass


class Value:
    """Members of a JSON object as attributes."""

    def __init__(self, members):
        self.__dict__.update(members)

    def __getattr__(self, name):
        if name in OPTIONAL:
            return None
        raise AttributeError(name)

    @property
    def output_text(self):
        return "".join(part.text for item in self.output if item.type == "message" for part in item.content)


class Binary:
    def __init__(self, response):
        self.response = response
        self.read = response.read


def parse(text):
    return json.loads(text, object_hook=Value)


def events(response):
    for line in response:
        data = line.decode().removeprefix("data: ").strip()
        if data == "[DONE]":
            return
        if data:
            yield parse(data)


class Method:
    def __init__(self, client, name):
        self.client, self.name = client, name

    def __getattr__(self, name):
        return Method(self.client, f"{self.name}.{name}")

    def __call__(self, **body):
        response = self.client.post(PATHS[self.name], body)
        if "json" in response.headers["content-type"]:
            return parse(response.read())
        return events(response) if body.get("stream") else Binary(response)


class OpenAI:
    def __init__(self, base_url, api_key):
        self.base_url, self.headers = base_url, {"authorization": f"Bearer {api_key}", "content-type": "application/json"}

    def __getattr__(self, name):
        return Method(self, name)

    def post(self, path, body):
        request = urllib.request.Request(self.base_url + path, json.dumps(body).encode(), self.headers)
        try:
            return urllib.request.urlopen(request)
        except urllib.error.HTTPError as refused:
            kind = PermissionDeniedError if refused.code == 403 else APIStatusError
            raise kind(refused.code, json.load(refused)["error"]) from refused
