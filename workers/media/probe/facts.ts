export * from "#shared/media/probe/facts.ts";
