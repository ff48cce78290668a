/** Example of a workflow definition, shown in the API description. */
export const EXAMPLE_DEFINITION = {
  inputs: { topic: { type: "string", required: true } },
  steps: [
    {
      id: "say",
      type: "model",
      model: "sandbox-chat",
      params: { messages: [{ role: "user", content: "Say one thing about ${{ inputs.topic }}." }] },
    },
  ],
  output: { text: "${{ steps.say.output.text }}" },
};
