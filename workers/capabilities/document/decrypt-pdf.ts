import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input } from "../define.ts";
import { text } from "../params.ts";
import { DOCUMENT_PRICE, openPdf, savePdf } from "./pdf.ts";

/** Encrypted sample page with the passwords "tea" and "milk". It is stored instead of generated, because encryption uses random numbers. */
const LOCKED = [
  "JVBERi0xLjcKJYGBgYEKCjEgMCBvYmoKPDwKL1R5cGUgL1BhZ2VzCi9LaWRzIFsgNCAwIFIgXQovQ291bnQgMQo+PgplbmRvYmoKCjIgMCBvYm",
  "oKPDwKL1R5cGUgL0NhdGFsb2cKL1BhZ2VzIDEgMCBSCi9FeHRlbnNpb25zIDw8Ci9BREJFIDw8Ci9CYXNlVmVyc2lvbiAvMS43Ci9FeHRlbnNp",
  "b25MZXZlbCA4Cj4+Cj4+Cj4+CmVuZG9iagoKNCAwIG9iago8PAovVHlwZSAvUGFnZQovUGFyZW50IDEgMCBSCi9SZXNvdXJjZXMgPDwKL0Zvbn",
  "QgPDwKL0hlbHZldGljYS03MDk4NDgwNzg5IDUgMCBSCj4+Ci9YT2JqZWN0IDw8Cj4+Ci9FeHRHU3RhdGUgPDwKPj4KPj4KL01lZGlhQm94IFsg",
  "MCAwIDIwMCAxMDAgXQovQW5ub3RzIFsgXQovQ29udGVudHMgWyA2IDAgUiBdCj4+CmVuZG9iagoKNiAwIG9iago8PAovRmlsdGVyIC9GbGF0ZU",
  "RlY29kZQovTGVuZ3RoIDEyOAo+PgpzdHJlYW0K9IE2maZ6nH5lA1HmNXFrdQCu74lTF5Ncw5NEqkaarZcHDVd6ytszMVnk6bpj3W/6KXR9LhRD",
  "gJgtjlKYHHV+0NlZLGnFwd64TvrSoYAFH764K3v15FGHpSDgtEatMSilrgGSbTpVrRlaPy3k8GMUj/D9qmLwzXUrZObG3lNmsuAKZW5kc3RyZW",
  "FtCmVuZG9iagoKOSAwIG9iago8PAovRmlsdGVyIC9TdGFuZGFyZAovViA1Ci9SIDYKL0xlbmd0aCAyNTYKL0NGIDw8Ci9TdGRDRiA8PAovQXV0",
  "aEV2ZW50IC9Eb2NPcGVuCi9DRk0gL0FFU1YzCi9MZW5ndGggMzIKPj4KPj4KL1N0bUYgL1N0ZENGCi9TdHJGIC9TdGRDRgovTyA8YjZlNWFiZD",
  "IxNzk5ZDRlMmI2ZTM1ODM4NTIzNGJkYjEzOWYyYWE1MWJjZWQ0Y2MzNTFhYmQ3YzhlMDlhNjcyOGM1NjAwMjM0MGY1OWQyNWY5Yzg4MTk1NzEx",
  "Mzc0N2U2PgovT0UgPDU3NzQ3YWViYWYzNDY5M2M3MzYwNjBjNDgwODM1MWZlMTdkNzY1MTNkMDQ2NzVkNGUxYTdkMGUxNzJjMmRhNTY+Ci9VID",
  "w5YTFjZDFhNzJmM2YxZTVkZjNhMzZmMTkwZDEwNWIwZmRiM2RhNDViMTZkYTZlZmViNmM1MzBhMDJmNzA4NTMzMDM4ZDM4YzkwOWRjMjBiOTZm",
  "ZjA5NmY3MmVmZmRjZDI+Ci9VRSA8ZjYyY2VkNjI1MjNkYmFkMDljMTFjM2Q1M2ExMjZhNTc5MWE3NjdhYjA4Njc5MTE5NjkyZWRhOGI4ZGVmMD",
  "JjNT4KL1AgLTM5MDQKL1Blcm1zIDw2N2I5YzNlYWY0NTVmNGNhMWY4MjA0YmY0Mjc5MGI4YT4KPj4KZW5kb2JqCgoxMCAwIG9iago8PAovRmls",
  "dGVyIC9GbGF0ZURlY29kZQovVHlwZSAvT2JqU3RtCi9OIDIKL0ZpcnN0IDkKL0xlbmd0aCAxNDQKPj4Kc3RyZWFtCuxKa66ROsD/xvqQtSjrC1",
  "pfwFz77R0fAFResSWYuA6ZH9KlFnTN2znTNltCN/6gxJxUljrFgS88vfZxIoPtQCL3f7SdS4ZfiiuFFfHmNX/ENgDuT79QbpRpyn1aEKkOqdZ1",
  "nbMMX9FOOv/YJMJ56u5KzAZ8N6UA/Ol1GTu4yPmdiUB1hzdwvZJXBDcJB2+KvgplbmRzdHJlYW0KZW5kb2JqCgoxMSAwIG9iago8PAovU2l6ZS",
  "AxMgovUm9vdCAyIDAgUgovRW5jcnlwdCA5IDAgUgovSW5mbyAzIDAgUgovSUQgWyA8MzJkNTJlZTI3NjgyMjJkOTczNmU0ZTYyNjkzNTQxYjg+",
  "IDwzMmQ1MmVlMjc2ODIyMmQ5NzM2ZTRlNjI2OTM1NDFiOD4gXQovRmlsdGVyIC9GbGF0ZURlY29kZQovVHlwZSAvWFJlZgovTGVuZ3RoIDQ4Ci",
  "9XIFsgMSAyIDIgXQovSW5kZXggWyAwIDcgOSAzIF0KPj4Kc3RyZWFtCnicY2Bg+P+fkUGAgYGRwYeBgYmBC8Q6AGExMjI2A7lMQAlGlmIgwZrJ",
  "wAAAlXsE8gplbmRzdHJlYW0KZW5kb2JqCgpzdGFydHhyZWYKMTM4NQolJUVPRg==",
].join("");

export default defineCapability({
  id: "document.decrypt_pdf",
  display_name: "Decrypt PDF",
  description: "Removes the encryption of a PDF whose password is known.",
  output_modality: "document",
  input: { document: input("document", "The PDF.") },
  params: { password: text("User or owner password of the document.", { max: 127, required: true }) },
  sample_input: { document: { base64: LOCKED, mime_type: "application/pdf" } },
  examples: [
    { title: "With the user's password", params: { password: "tea" } },
    { title: "With the owner's password", params: { password: "milk" } },
  ],
  price: DOCUMENT_PRICE,
  engine: "pdf",
  async run({ params, inputs, folder }) {
    const { document, pages, isEncrypted } = await openPdf(inputs.document, {
      password: params.password,
      passwordParam: "params.password",
    });
    if (!isEncrypted) throw new MediaError("invalid", "Expected an encrypted document, got an unencrypted one.");
    return { output: { pages }, files: [await savePdf(folder, document)] };
  },
});
