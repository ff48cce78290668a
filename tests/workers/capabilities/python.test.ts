import { describe, expect, test } from "bun:test";

import { refused } from "./refused.ts";
import { runCapability } from "./in-folder.ts";

const python = (text: string, params: object = {}) => runCapability("code.run_python", { code: { text } }, params);

describe("a script in the subset of Python", () => {
  test("returns its last value and what it printed", async () => {
    const text = "print('a', 1, end='')\nprint('', [2])\nprint('b\\nc')\nargs['n'] * 2";
    expect((await python(text, { args: { n: 21 } })).output).toEqual({ value: 42, printed: ["a 1 [2]", "b", "c"] });
  });

  test.each<[string, string, unknown]>([
    ["nothing", "x = 1", null],
    [
      "a dict",
      "{'a': [1, 2.5, None, True], 2: (1, 'b'), (3,): b'x'}",
      { a: [1, 2.5, null, true], 2: [1, "b"], "[3]": "eA==" },
    ],
    [
      "integers of any size",
      "[2**40, 2**80, -2**63]",
      [1_099_511_627_776, "1208925819614629174706176", "-9223372036854775808"],
    ],
    ["what is no number in JSON", "float('nan')", null],
    ["a comprehension over args", "sorted({k: v + 1 for k, v in args.items()}.values())", [2, 3]],
    ["text of JSON", "import json\njson.loads('{\"a\": [1]}')['a']", [1]],
    ["a list that holds itself", "a = []\na.append(a)\na", ["[...]"]],
  ])("may give %s", async (_what, text, value) => {
    expect((await python(text, { args: { a: 1, b: 2 } })).output?.["value"]).toEqual(value);
  });

  test("prints a thousand lines of two thousand letters at most", async () => {
    const { output } = await python("for i in range(2000): print('x' * 5000)");
    const printed = output?.["printed"] as readonly string[];
    expect([printed.length, printed[0]?.length]).toEqual([1_000, 2_000]);
  });

  test.each([
    ["never ends", "while True: pass", "too_large: Expected the script to end within params.timeout."],
    [
      "catches everything and never ends",
      "while True:\n try:\n  while True: pass\n except BaseException: pass",
      "too_large: Expected the script to end within params.timeout.",
    ],
    ["takes all memory", "a = []\nwhile True: a.append([0] * 100000)", "invalid: The script failed: MemoryError"],
    ["asks for more memory than there is", "[0] * 10**9", "invalid: The script failed: MemoryError"],
    ["makes a number of billions of digits", "10**10**8", "invalid: The script failed: MemoryError"],
    ["calls itself for ever", "def f(): return f()\nf()", "invalid: The script failed: RecursionError"],
    ["reads a file", "open('/etc/passwd').read()", "invalid: The script failed: NotImplementedError"],
    [
      "reads a file by its path",
      "from pathlib import Path\nPath('/etc/passwd').read_text()",
      "invalid: The script failed: NotImplementedError",
    ],
    ["reads the environment", "import os\nos.environ['PATH']", "invalid: The script failed: NotImplementedError"],
    ["opens a connection", "import socket", "invalid: The script failed: ModuleNotFoundError"],
    ["starts a process", "import subprocess", "invalid: The script failed: ModuleNotFoundError"],
    ["imports by name", "__import__('os')", "invalid: The script failed: NameError"],
    ["evaluates text", "eval('1')", "invalid: The script failed: NameError"],
    ["throws", "raise ValueError('no')", "invalid: The script failed: ValueError: no"],
    ["is none", "def", "invalid: The script failed: SyntaxError"],
    ["is nested too deep", `${"(".repeat(5_000)}1${")".repeat(5_000)}`, "invalid: The script failed: SyntaxError"],
    [
      "gives too deep a value",
      "a = 1\nfor i in range(150): a = [a]\na",
      "too_large: Expected a value nested at most 100",
    ],
    ["gives too large a value", "'x' * 2000000", "too_large: Expected a value of at most 1048576 bytes"],
  ])("that %s is ended with a reason", async (_what, text, said) => {
    // What ends by itself has time for that, however busy the machine is.
    const timeout = said.includes("params.timeout") ? 0.5 : 5;
    expect(await refused(python(text, { timeout }))).toContain(said);
  });
});
