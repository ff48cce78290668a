import { describe, expect, test } from "bun:test";

import { refused } from "./refused.ts";
import { runCapability } from "./in-folder.ts";

const python = (text: string, params: object = {}) => runCapability("code.run_python", { code: { text } }, params);

describe("a script in the subset of Python", () => {
  test("returns its last value and its printed output", async () => {
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
    ["lists 48 deep", "a = 1\nfor i in range(48): a = [a]\na", JSON.parse(`${"[".repeat(48)}1${"]".repeat(48)}`)],
    ["a list that holds itself", "a = []\na.append(a)\na", ["[...]"]],
  ])("may return %s", async (_what, text, value) => {
    expect((await python(text, { args: { a: 1, b: 2 } })).output?.["value"]).toEqual(value);
  });

  test("computes and rounds like CPython", async () => {
    const text =
      "[[1, 2] < [1, 3], -7.5 % 2, str(1e16), str(float('inf')), round(2.675, 2), int(1e20), 10**20 > 1.5, f'{1e-5}', round(2.5)]";
    expect((await python(text)).output?.["value"]).toEqual(
      [true, 0.5, "1e+16", "inf", 2.67, "100000000000000000000", true, "1e-05", 2], // prettier-ignore
    );
  });

  test.each([
    ["a decorator", "print(1)\n@twice\ndef f(): pass", "the decorator @twice", 2],
    ["a kept map", "m = map(str, [1])", "map that is kept or passed on", 1],
    ["a map by another name", "f = map\nm = f(str, [1])", "map as a value", 1],
    ["a zip that is passed on", "def use(f): return f([1])\nuse(zip)", "zip as a value", 2],
    ["a filter in a list", "[filter][0](None, [1])", "filter as a value", 1],
    ["a kept generator", "g = (x for x in [1])", "a generator expression that is kept or passed on", 1],
    ["any over prints", "any(print(x) for x in [1])", "a generator expression with side effects", 1],
    [
      "a loop that changes its list",
      "a = [1]\nfor i, x in enumerate(a):\n a.remove(x)",
      "a list that its loop changes",
      2,
    ],
    ["a set that is updated", "s = {1}\nt = s\nt |= {2}", "|= of a set", 3],
    ["split by groups", "import re\nre.split(r'(,)', 'a,b')", "re.split with groups", 2],
    ["a special method", "class A:\n def __format__(self, s): return s", "the method __format__", 2],
    ["inheritance", "class A: pass\nclass B(A): pass", "class inheritance", 2],
  ])("with %s is rejected before it runs", async (_what, text, construct, line) => {
    const message = await refused(python(text));
    expect(message).toStartWith(`unsupported: Expected Python without `);
    expect(message).toContain(construct);
    expect(message).toContain(`(line ${line})`);
  });

  test("may call its own names as the functions of Python, and name arguments like them", async () => {
    const text =
      "def use(map, zip=1): return map + zip\nfilter = 3\nx = filter\n[use(1, zip=2), use(map=1), x, dict(enumerate=5)]";
    expect((await python(text)).output?.["value"]).toEqual([3, 2, 3, { enumerate: 5 }]);
  });

  test("may use iterators that CPython would read at once", async () => {
    const text =
      "def even(n): return n % 2 == 0\na, b = map(int, '1 2'.split())\nn = 0\nfor i, (x, y) in enumerate(zip('ab', [1, 2])): n += i * y\n" +
      "[a, b, n, any(even(x) for x in [1, 2]), sum(x for x in [1]), list(filter(None, [0, 1])), sorted(reversed([1, 2])), ','.join(map(str, [1]))]";
    expect((await python(text)).output?.["value"]).toEqual([1, 2, 2, true, 1, [1], [1, 2], "1"]);
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
    ["reads a file", "open('/etc/passwd').read()", "invalid: The script failed: PermissionError"],
    [
      "reads a file by its path",
      "from pathlib import Path\nPath('/etc/passwd').read_text()",
      "invalid: The script failed: PermissionError",
    ],
    ["reads the environment", "import os\nos.environ['PATH']", "invalid: The script failed: "],
    ["asks for the time", "from datetime import datetime\ndatetime.now()", "invalid: The script failed: "],
    ["ends in a date", "from datetime import date\ndate(2024, 1, 2)", "invalid: Expected the last value"],
    ["opens a connection", "import socket", "invalid: The script failed: ModuleNotFoundError"],
    ["starts a process", "import subprocess", "invalid: The script failed: ModuleNotFoundError"],
    ["imports by name", "__import__('os')", "invalid: The script failed: NameError"],
    ["evaluates text", "eval('1')", "invalid: The script failed: NameError"],
    ["throws", "raise ValueError('no')", "invalid: The script failed: ValueError: no"],
    ["is none", "def", "invalid: The script failed: SyntaxError"],
    [
      "is nested too deep",
      `${"(".repeat(5_000)}1${")".repeat(5_000)}`,
      "too_large: Expected Python nested at most 1000 deep",
    ],
    [
      "is nested deeper than is read",
      `${"(".repeat(900)}1${")".repeat(900)}`,
      "invalid: The script failed: SyntaxError",
    ],
    [
      "gives too deep a value",
      "a = 1\nfor i in range(49): a = [a]\na",
      "too_large: Expected a value nested at most 48",
    ],
    ["gives a list of too many numbers", "[0.5] * 1000000", "too_large: The interpreter stopped"],
    ["gives too large a value", "'x' * 2000000", "too_large: Expected a value of at most 1048576 bytes"],
  ])("that %s is ended with a reason", async (_what, text, said) => {
    // What ends by itself has time for that, however busy the machine is.
    const timeout = said.includes("params.timeout") ? 0.5 : 5;
    expect(await refused(python(text, { timeout }))).toContain(said);
  });
});
