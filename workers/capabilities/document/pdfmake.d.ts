/** The part of pdfmake that we use. Its published types would bring those of browsers into every file. */
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
