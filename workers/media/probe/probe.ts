export * from "#shared/media/probe/probe.ts";
