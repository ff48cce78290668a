/** Type declarations for the part of pdfmake that this service uses. The published types would add browser types to every file. */
declare module "pdfmake" {
  interface PdfMaker {
    setFonts(fonts: Readonly<Record<string, Readonly<Record<string, string>>>>): void;
    setUrlAccessPolicy(allows: (url: string) => boolean): void;
    setLocalAccessPolicy(allows: (path: string) => boolean): void;
    createPdf(definition: object): { getBuffer(): Promise<Uint8Array> };
  }

  const maker: PdfMaker;
  export default maker;
}
