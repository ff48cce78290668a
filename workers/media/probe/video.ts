export * from "#shared/media/probe/video.ts";
