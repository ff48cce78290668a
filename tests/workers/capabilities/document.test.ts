import { describe, expect, test } from "bun:test";

import { degrees, drawObject, PDFDocument, type PDFForm, PDFHexString, PDFName } from "@cantoo/pdf-lib";
import sharp from "sharp";

import { five, pagesOf, unzipped } from "./document-files.ts";
import { refused } from "./refused.ts";
import { runCapability } from "./in-folder.ts";

const REPORT = { file_id: "file-sample-report" } as const;
const PHOTO = { file_id: "file-sample-photo" } as const;

describe("pages of a PDF", () => {
  test("are listed with their sizes, title and fields", async () => {
    const { output } = await runCapability("document.info", { document: REPORT });
    expect(output).toMatchObject({
      pages: 3,
      is_encrypted: false,
      title: "Report on tea",
      author: "Sluice",
      page_sizes: [{ width: 595.28, height: 841.89, rotation: 0, pages: 3 }],
      attachments: 0,
      fields: [
        { name: "customer", type: "textfield" },
        { name: "size", type: "dropdown" },
        { name: "agreed", type: "checkbox" },
      ],
    });
  });

  test.each([
    ["2-3", {}, ["two", "three"]],
    ["-1,1,1", {}, ["five", "one", "one"]],
    ["4-", {}, ["four", "five"]],
    ["-2-", {}, ["four", "five"]],
    ["1,-2--1", { mode: "delete" }, ["two", "three"]],
  ])("%s are kept or deleted, in order", async (pages, params, expected) => {
    const made = await runCapability("document.select_pages", { document: five }, { pages, ...params });
    expect(await pagesOf(made.bytes())).toEqual(expected);
  });

  test("are rotated relative to their current rotation", async () => {
    const document = await PDFDocument.load(five);
    document.getPage(0).setRotation(degrees(270));
    const made = await runCapability("document.select_pages", { document: await document.save() }, { pages: "1-2", rotate: 180 }); // prettier-ignore
    const turned = (await PDFDocument.load(made.bytes())).getPages().map((page) => page.getRotation().angle);
    expect(turned).toEqual([90, 180]);
  });

  test("of several are merged, also of encrypted ones, with the same bytes each time", async () => {
    const locked = (await runCapability("document.encrypt_pdf", { document: five }, { user_password: "tea" })).bytes();
    const merge = () =>
      runCapability("document.merge_pdf", { documents: [REPORT, locked] }, { passwords: ["", "tea"] });
    const [made, again] = [await merge(), await merge()];
    expect(Buffer.compare(made.bytes(), again.bytes())).toBe(0);
    const pages = await pagesOf(made.bytes());
    expect([pages.length, pages[3], pages[7]]).toEqual([8, "one", "five"]);
  });

  test("are split one by one, by count and by ranges", async () => {
    const split = (params: object) => runCapability("document.split_pdf", { document: five }, params);
    const one = await split({});
    expect([...(await unzipped(one.bytes())).keys()]).toEqual(
      ["1", "2", "3", "4", "5"].map((at) => `part-00${at}.pdf`),
    );
    const pairs = await split({ every: 2, pack: "files" });
    expect(pairs.output).toEqual({ parts: 3, pages: [2, 2, 1] });
    expect(await pagesOf(pairs.bytes(2))).toEqual(["five"]);
    const ranges = await split({ ranges: ["5,1", "2-3"], pack: "files" });
    expect(await pagesOf(ranges.bytes(0))).toEqual(["five", "one"]);
  });

  test("are rendered like in the PDF, at the requested resolution", async () => {
    const document = await PDFDocument.create();
    document.addPage([72, 36]).drawSquare({ x: 0, y: 0, size: 18, borderWidth: 0 });
    const bytes = await document.save();
    const made = await runCapability("document.render_pages", { document: bytes }, { dpi: 72, pack: "files" });
    const { data, info } = await sharp(made.bytes()).raw().toBuffer({ resolveWithObject: true });
    const at = (x: number, y: number) => data[(y * info.width + x) * info.channels];
    expect([info.width, info.height, at(5, 30), at(60, 5)]).toEqual([72, 36, 0, 255]);
    expect(made.files?.[0]?.name).toBe("page-001.png");
  });
});

describe("a lock", () => {
  test("opens with its passwords only, and contains the permissions", async () => {
    const params = { user_password: "grüner Tee", owner_password: "milk", allow: ["print"] };
    const locked = (await runCapability("document.encrypt_pdf", { document: five }, params)).bytes();
    expect(Buffer.from(locked).toString("latin1")).toContain("/V 5");
    expect(await pagesOf(locked).catch(String)).toContain("Password required");
    expect((await pagesOf(locked, "grüner Tee"))[4]).toBe("five");
    for (const password of ["grüner Tee", "milk"]) {
      const open = await runCapability("document.decrypt_pdf", { document: locked }, { password });
      expect(await pagesOf(open.bytes())).toEqual(["one", "two", "three", "four", "five"]);
      expect((await PDFDocument.load(open.bytes())).isEncrypted).toBe(false);
    }
    const of = (password?: string) => runCapability("document.info", { document: locked }, password === undefined ? {} : { password }); // prettier-ignore
    expect((await of("milk")).output).toMatchObject({ is_encrypted: true, pages: 5 });
    expect(await refused(of())).toBe("invalid: Expected params.password for an encrypted document, got none.");
    expect(await refused(of("x"))).toBe("invalid: Expected params.password to open the document; it does not.");
    expect(await refused(runCapability("document.extract_text", { document: locked }))).toContain("params.password");
    expect(await refused(runCapability("document.split_pdf", { document: locked }))).toContain("document.decrypt_pdf");
  });

  test("that was removed leaves title and pages", async () => {
    const locked = await runCapability("document.encrypt_pdf", { document: REPORT }, { user_password: "tea" });
    const open = await runCapability("document.decrypt_pdf", { document: locked.bytes() }, { password: "tea" });
    const { output } = await runCapability("document.info", { document: open.bytes() });
    expect(output).toMatchObject({ title: "Report on tea", pages: 3, field_count: 3, is_encrypted: false });
  });
});

describe("a mark", () => {
  test("of text is on the named pages, including letters of any alphabet", async () => {
    const mark = (text: string) =>
      runCapability("document.watermark", { document: five }, { text, pages: "2", angle: 0, size: 20 });
    expect((await pagesOf((await mark("Draft")).bytes())).map((page) => page.includes("Draft"))).toEqual([
      false,
      true,
      false,
      false,
      false,
    ]);
    expect((await mark("Чай")).output).toEqual({ pages: 1 });
  });

  test("of page numbers counts", async () => {
    const made = await runCapability("document.watermark", { document: five }, { page_numbers: "n_of_m", angle: 0 });
    expect((await pagesOf(made.bytes()))[3]).toContain("4 / 5");
  });

  test.each([0, 90, 180, 270])("is visible in its corner on a page rotated by %d", async (angle) => {
    const document = await PDFDocument.create();
    document.addPage([200, 100]).setRotation(degrees(angle));
    const params = { gravity: "northwest", angle: 0, size: 20, opacity: 1 };
    const red = await sharp({ create: { width: 10, height: 10, channels: 3, background: "red" } }).png().toBuffer(); // prettier-ignore
    const made = await runCapability("document.watermark", { document: await document.save(), logo: red }, params);
    const drawn = await runCapability("document.render_pages", { document: made.bytes() }, { dpi: 72, pack: "files" });
    const { data, info } = await sharp(drawn.bytes()).raw().toBuffer({ resolveWithObject: true });
    const green = (x: number, y: number) => data[(y * info.width + x) * info.channels + 1];
    expect([green(30, 30), green(10, 10), green(info.width - 30, info.height - 30)]).toEqual([0, 255, 255]);
  });
});

describe("a form", () => {
  test("is filled, and stays editable on request", async () => {
    const fields = { customer: "Ada", size: "large", agreed: true };
    const made = await runCapability("document.fill_form", { document: REPORT }, { fields, flatten: false });
    const form = (await PDFDocument.load(made.bytes())).getForm();
    expect([
      form.getTextField("customer").getText(),
      form.getDropdown("size").getSelected(),
      form.getCheckBox("agreed").isChecked(),
    ]).toEqual(["Ada", ["large"], true]);
    const flat = await runCapability("document.fill_form", { document: REPORT }, { fields });
    expect((await pagesOf(flat.bytes()))[2]).toContain("Ada");
    expect((await PDFDocument.load(flat.bytes())).getForm().getFields()).toEqual([]);
  });

  test("has letters beyond Windows-1252 as text, in filled fields and in those without an appearance; others keep theirs", async () => {
    const document = await PDFDocument.create();
    const page = document.addPage([300, 200]);
    const fields = document.getForm();
    for (const [at, name] of ["filled", "bare", "drawn"].entries()) {
      const field = fields.createTextField(name);
      field.addToPage(page, { x: 10, y: 10 + at * 40, width: 280, height: 24 });
      field.acroField.setValue(PDFHexString.fromText("Łódź ó"));
    }
    const choice = fields.createDropdown("choice");
    choice.addToPage(page, { x: 10, y: 130, width: 280, height: 24 });
    choice.setOptions(["Zażółć", "中文"]);
    const widget = (form: PDFForm, name: string) => form.getField(name).acroField.getWidgets()[0];
    widget(fields, "bare")?.dict.delete(PDFName.of("AP"));
    const own = document.context.formXObject([drawObject("Own")], { BBox: document.context.obj([0, 0, 279, 23]) });
    widget(fields, "drawn")?.setNormalAppearance(document.context.register(own));
    const bytes = await document.save({ updateFieldAppearances: false });
    const params = { fields: { filled: "Чай ő", choice: "Zażółć" } };
    const flat = (await pagesOf((await runCapability("document.fill_form", { document: bytes }, params)).bytes()))[0];
    for (const words of ["Чай ő", "Zażółć", "Łódź ó"]) expect(flat).toContain(words);
    const kept = await runCapability("document.fill_form", { document: bytes }, { ...params, flatten: false });
    const form = (await PDFDocument.load(kept.bytes())).getForm();
    expect(String(widget(form, "drawn")?.getAppearances()?.normal)).toContain("/BBox [ 0 0 279 23 ]");
    expect(form.getTextField("drawn").getText()).toBe("Łódź ó");
  });
});

describe("images", () => {
  test("are inserted into a PDF and extracted from it, each once", async () => {
    const made = await runCapability("document.images_to_pdf", { images: [PHOTO, PHOTO] });
    const sizes = (await PDFDocument.load(made.bytes())).getPages().map((page) => page.getSize());
    expect(sizes).toEqual([{ width: 900, height: 600 }, { width: 900, height: 600 }]); // prettier-ignore
    const { output } = await runCapability("document.extract_images", { document: made.bytes() });
    expect(output).toEqual({ images: [{ page: 1, width: 1_200, height: 800 }] });
    const found = await runCapability("document.extract_images", { document: REPORT }, { pack: "files" });
    const chart = await sharp("shared/calls/capabilities/samples/chart.png").removeAlpha().raw().toBuffer();
    expect(Buffer.compare(await sharp(found.bytes()).raw().toBuffer(), chart)).toBe(0);
    const none = await runCapability("document.extract_images", { document: REPORT }, { min_width: 700 });
    expect([none.output, none.files]).toEqual([{ images: [] }, []]);
  });

  test("are upright on paper", async () => {
    const made = await runCapability("document.images_to_pdf", { images: [PHOTO] }, { page_size: "a4", margin: 10 });
    const [page] = (await PDFDocument.load(made.bytes())).getPages();
    expect(page?.getSize()).toEqual({ width: 841.89, height: 595.28 });
  });
});
