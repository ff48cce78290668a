export * from "#shared/media/media-error.ts";
