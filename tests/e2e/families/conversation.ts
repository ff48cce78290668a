/** The conversation that the tests of all families hold: a picture, two tools called at once, their results, thanks. */
import type { Turn } from "./turn.ts";

/** A PNG of 2 × 3 points. */
export const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAFElEQVR4nGP8z8DAwMDAxMDAwIBMAQALAQEE6Xm2ZAAAAABJRU5ErkJggg==";

export const SYSTEM = "Answer from the picture and the tools.";
export const QUESTION = "What is in the picture, and how warm and how late is it there?";
export const THANKS = "Thank you! And in Fahrenheit? 🙂";

const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;
const zone = { type: "object", properties: { zone: { type: "string" } }, required: ["zone"] } as const;

/** Tools, each with its one call and the result of that: an object as JSON text, and a text that is no JSON. */
export const TOOLS = {
  get_weather: {
    description: "Weather of a city",
    parameters: city,
    call: { id: "call_weather1", name: "get_weather", args: { city: "Zürich" } },
    result: '{"degrees":18}',
  },
  get_time: {
    description: "Time in a zone",
    parameters: zone,
    call: { id: "call_time2", name: "get_time", args: { zone: "Europe/Zurich" } },
    result: "half past ten",
  },
} as const;

export type ToolName = keyof typeof TOOLS;
export const TOOL_NAMES = Object.keys(TOOLS) as ToolName[];

/** Tools in OpenAI's shape. */
export const OPENAI_TOOLS = TOOL_NAMES.map((name) => {
  const { description, parameters } = TOOLS[name];
  return { type: "function" as const, function: { name, description, parameters } };
});

/** Turns of the model, in order. The client speaks before each. */
export const TURNS: readonly Turn[] = [
  {
    thought: "A lake – that is Zürich. Both tools are needed.",
    text: "A lake 🏞️ with boats. I will look up the rest.",
    calls: TOOL_NAMES.map((name) => TOOLS[name].call),
    took: { input: 640, output: 96, thinking: 16 },
  },
  {
    text: "It shows Lake Zürich; it is 18 °C and half past ten.",
    took: { input: 60, cached: 704, output: 24 },
  },
  { thought: "18 × 9 ÷ 5 + 32.", text: "About 64 °F.", took: { input: 40, cached: 788, output: 20, thinking: 9 } },
];
