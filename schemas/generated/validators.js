/** Written by deploy/generate.ts from schemas/: edit those, then run `npm run generate`. */
var __commonJS = (cb, mod) => () => (mod || cb((mod = { exports: {} }).exports, mod), mod.exports);
var require_ucs2length = __commonJS(function(exports) {
Object.defineProperty(exports, "__esModule", { value: true });
function ucs2length(str) {
const len = str.length;
let length = 0;
let pos = 0;
let value;
while (pos < len) {
length++;
value = str.charCodeAt(pos++);
if (value >= 55296 && value <= 56319 && pos < len) {
value = str.charCodeAt(pos);
if ((value & 64512) === 56320)
pos++;
}
}
return length;
}
exports.default = ucs2length;
ucs2length.code = 'require("ajv/dist/runtime/ucs2length").default';
});
var require_formats = __commonJS(function(exports) {
Object.defineProperty(exports, "__esModule", { value: true });
exports.formatNames = exports.fastFormats = exports.fullFormats = undefined;
function fmtDef(validate, compare) {
return { validate, compare };
}
exports.fullFormats = {
date: fmtDef(date, compareDate),
time: fmtDef(getTime(true), compareTime),
"date-time": fmtDef(getDateTime(true), compareDateTime),
"iso-time": fmtDef(getTime(), compareIsoTime),
"iso-date-time": fmtDef(getDateTime(), compareIsoDateTime),
duration: /^P(?!$)((\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?|(\d+W)?)$/,
uri,
"uri-reference": /^(?:[a-z][a-z0-9+\-.]*:)?(?:\/?\/(?:(?:[a-z0-9\-._~!$&'()*+,;=:]|%[0-9a-f]{2})*@)?(?:\[(?:(?:(?:(?:[0-9a-f]{1,4}:){6}|::(?:[0-9a-f]{1,4}:){5}|(?:[0-9a-f]{1,4})?::(?:[0-9a-f]{1,4}:){4}|(?:(?:[0-9a-f]{1,4}:){0,1}[0-9a-f]{1,4})?::(?:[0-9a-f]{1,4}:){3}|(?:(?:[0-9a-f]{1,4}:){0,2}[0-9a-f]{1,4})?::(?:[0-9a-f]{1,4}:){2}|(?:(?:[0-9a-f]{1,4}:){0,3}[0-9a-f]{1,4})?::[0-9a-f]{1,4}:|(?:(?:[0-9a-f]{1,4}:){0,4}[0-9a-f]{1,4})?::)(?:[0-9a-f]{1,4}:[0-9a-f]{1,4}|(?:(?:25[0-5]|2[0-4]\d|[01]?\d\d?)\.){3}(?:25[0-5]|2[0-4]\d|[01]?\d\d?))|(?:(?:[0-9a-f]{1,4}:){0,5}[0-9a-f]{1,4})?::[0-9a-f]{1,4}|(?:(?:[0-9a-f]{1,4}:){0,6}[0-9a-f]{1,4})?::)|[Vv][0-9a-f]+\.[a-z0-9\-._~!$&'()*+,;=:]+)\]|(?:(?:25[0-5]|2[0-4]\d|[01]?\d\d?)\.){3}(?:25[0-5]|2[0-4]\d|[01]?\d\d?)|(?:[a-z0-9\-._~!$&'"()*+,;=]|%[0-9a-f]{2})*)(?::\d*)?(?:\/(?:[a-z0-9\-._~!$&'"()*+,;=:@]|%[0-9a-f]{2})*)*|\/(?:(?:[a-z0-9\-._~!$&'"()*+,;=:@]|%[0-9a-f]{2})+(?:\/(?:[a-z0-9\-._~!$&'"()*+,;=:@]|%[0-9a-f]{2})*)*)?|(?:[a-z0-9\-._~!$&'"()*+,;=:@]|%[0-9a-f]{2})+(?:\/(?:[a-z0-9\-._~!$&'"()*+,;=:@]|%[0-9a-f]{2})*)*)?(?:\?(?:[a-z0-9\-._~!$&'"()*+,;=:@/?]|%[0-9a-f]{2})*)?(?:#(?:[a-z0-9\-._~!$&'"()*+,;=:@/?]|%[0-9a-f]{2})*)?$/i,
"uri-template": /^(?:(?:[^\x00-\x20"'<>%\\^`{|}]|%[0-9a-f]{2})|\{[+#./;?&=,!@|]?(?:[a-z0-9_]|%[0-9a-f]{2})+(?::[1-9][0-9]{0,3}|\*)?(?:,(?:[a-z0-9_]|%[0-9a-f]{2})+(?::[1-9][0-9]{0,3}|\*)?)*\})*$/i,
url: /^(?:https?|ftp):\/\/(?:\S+(?::\S*)?@)?(?:(?!(?:10|127)(?:\.\d{1,3}){3})(?!(?:169\.254|192\.168)(?:\.\d{1,3}){2})(?!172\.(?:1[6-9]|2\d|3[0-1])(?:\.\d{1,3}){2})(?:[1-9]\d?|1\d\d|2[01]\d|22[0-3])(?:\.(?:1?\d{1,2}|2[0-4]\d|25[0-5])){2}(?:\.(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-4]))|(?:(?:[a-z0-9\u{00a1}-\u{ffff}]+-)*[a-z0-9\u{00a1}-\u{ffff}]+)(?:\.(?:[a-z0-9\u{00a1}-\u{ffff}]+-)*[a-z0-9\u{00a1}-\u{ffff}]+)*(?:\.(?:[a-z\u{00a1}-\u{ffff}]{2,})))(?::\d{2,5})?(?:\/[^\s]*)?$/iu,
email: /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i,
hostname: /^(?=.{1,253}\.?$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[-0-9a-z]{0,61}[0-9a-z])?)*\.?$/i,
ipv4: /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/,
ipv6: /^((([0-9a-f]{1,4}:){7}([0-9a-f]{1,4}|:))|(([0-9a-f]{1,4}:){6}(:[0-9a-f]{1,4}|((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3})|:))|(([0-9a-f]{1,4}:){5}(((:[0-9a-f]{1,4}){1,2})|:((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3})|:))|(([0-9a-f]{1,4}:){4}(((:[0-9a-f]{1,4}){1,3})|((:[0-9a-f]{1,4})?:((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}))|:))|(([0-9a-f]{1,4}:){3}(((:[0-9a-f]{1,4}){1,4})|((:[0-9a-f]{1,4}){0,2}:((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}))|:))|(([0-9a-f]{1,4}:){2}(((:[0-9a-f]{1,4}){1,5})|((:[0-9a-f]{1,4}){0,3}:((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}))|:))|(([0-9a-f]{1,4}:){1}(((:[0-9a-f]{1,4}){1,6})|((:[0-9a-f]{1,4}){0,4}:((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}))|:))|(:(((:[0-9a-f]{1,4}){1,7})|((:[0-9a-f]{1,4}){0,5}:((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}))|:)))$/i,
regex,
uuid: /^(?:urn:uuid:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i,
"json-pointer": /^(?:\/(?:[^~/]|~0|~1)*)*$/,
"json-pointer-uri-fragment": /^#(?:\/(?:[a-z0-9_\-.!$&'()*+,;:=@]|%[0-9a-f]{2}|~0|~1)*)*$/i,
"relative-json-pointer": /^(?:0|[1-9][0-9]*)(?:#|(?:\/(?:[^~/]|~0|~1)*)*)$/,
byte,
int32: { type: "number", validate: validateInt32 },
int64: { type: "number", validate: validateInt64 },
float: { type: "number", validate: validateNumber },
double: { type: "number", validate: validateNumber },
password: true,
binary: true
};
exports.fastFormats = {
...exports.fullFormats,
date: fmtDef(/^\d\d\d\d-[0-1]\d-[0-3]\d$/, compareDate),
time: fmtDef(/^(?:[0-2]\d:[0-5]\d:[0-5]\d|23:59:60)(?:\.\d+)?(?:z|[+-]\d\d(?::?\d\d)?)$/i, compareTime),
"date-time": fmtDef(/^\d\d\d\d-[0-1]\d-[0-3]\dt(?:[0-2]\d:[0-5]\d:[0-5]\d|23:59:60)(?:\.\d+)?(?:z|[+-]\d\d(?::?\d\d)?)$/i, compareDateTime),
"iso-time": fmtDef(/^(?:[0-2]\d:[0-5]\d:[0-5]\d|23:59:60)(?:\.\d+)?(?:z|[+-]\d\d(?::?\d\d)?)?$/i, compareIsoTime),
"iso-date-time": fmtDef(/^\d\d\d\d-[0-1]\d-[0-3]\d[t\s](?:[0-2]\d:[0-5]\d:[0-5]\d|23:59:60)(?:\.\d+)?(?:z|[+-]\d\d(?::?\d\d)?)?$/i, compareIsoDateTime),
uri: /^(?:[a-z][a-z0-9+\-.]*:)(?:\/?\/)?[^\s]*$/i,
"uri-reference": /^(?:(?:[a-z][a-z0-9+\-.]*:)?\/?\/)?(?:[^\\\s#][^\s#]*)?(?:#[^\\\s]*)?$/i,
email: /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i
};
exports.formatNames = Object.keys(exports.fullFormats);
function isLeapYear(year) {
return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}
var DATE = /^(\d\d\d\d)-(\d\d)-(\d\d)$/;
var DAYS = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
function date(str) {
const matches = DATE.exec(str);
if (!matches)
return false;
const year = +matches[1];
const month = +matches[2];
const day = +matches[3];
return month >= 1 && month <= 12 && day >= 1 && day <= (month === 2 && isLeapYear(year) ? 29 : DAYS[month]);
}
function compareDate(d1, d2) {
if (!(d1 && d2))
return;
if (d1 > d2)
return 1;
if (d1 < d2)
return -1;
return 0;
}
var TIME = /^(\d\d):(\d\d):(\d\d(?:\.\d+)?)(z|([+-])(\d\d)(?::?(\d\d))?)?$/i;
function getTime(strictTimeZone) {
return function time(str) {
const matches = TIME.exec(str);
if (!matches)
return false;
const hr = +matches[1];
const min = +matches[2];
const sec = +matches[3];
const tz = matches[4];
const tzSign = matches[5] === "-" ? -1 : 1;
const tzH = +(matches[6] || 0);
const tzM = +(matches[7] || 0);
if (tzH > 23 || tzM > 59 || strictTimeZone && !tz)
return false;
if (hr <= 23 && min <= 59 && sec < 60)
return true;
const utcMin = min - tzM * tzSign;
const utcHr = hr - tzH * tzSign - (utcMin < 0 ? 1 : 0);
return (utcHr === 23 || utcHr === -1) && (utcMin === 59 || utcMin === -1) && sec < 61;
};
}
function compareTime(s1, s2) {
if (!(s1 && s2))
return;
const t1 = new Date("2020-01-01T" + s1).valueOf();
const t2 = new Date("2020-01-01T" + s2).valueOf();
if (!(t1 && t2))
return;
return t1 - t2;
}
function compareIsoTime(t1, t2) {
if (!(t1 && t2))
return;
const a1 = TIME.exec(t1);
const a2 = TIME.exec(t2);
if (!(a1 && a2))
return;
t1 = a1[1] + a1[2] + a1[3];
t2 = a2[1] + a2[2] + a2[3];
if (t1 > t2)
return 1;
if (t1 < t2)
return -1;
return 0;
}
var DATE_TIME_SEPARATOR = /t|\s/i;
function getDateTime(strictTimeZone) {
const time = getTime(strictTimeZone);
return function date_time(str) {
const dateTime = str.split(DATE_TIME_SEPARATOR);
return dateTime.length === 2 && date(dateTime[0]) && time(dateTime[1]);
};
}
function compareDateTime(dt1, dt2) {
if (!(dt1 && dt2))
return;
const d1 = new Date(dt1).valueOf();
const d2 = new Date(dt2).valueOf();
if (!(d1 && d2))
return;
return d1 - d2;
}
function compareIsoDateTime(dt1, dt2) {
if (!(dt1 && dt2))
return;
const [d1, t1] = dt1.split(DATE_TIME_SEPARATOR);
const [d2, t2] = dt2.split(DATE_TIME_SEPARATOR);
const res = compareDate(d1, d2);
if (res === undefined)
return;
return res || compareTime(t1, t2);
}
var NOT_URI_FRAGMENT = /\/|:/;
var URI = /^(?:[a-z][a-z0-9+\-.]*:)(?:\/?\/(?:(?:[a-z0-9\-._~!$&'()*+,;=:]|%[0-9a-f]{2})*@)?(?:\[(?:(?:(?:(?:[0-9a-f]{1,4}:){6}|::(?:[0-9a-f]{1,4}:){5}|(?:[0-9a-f]{1,4})?::(?:[0-9a-f]{1,4}:){4}|(?:(?:[0-9a-f]{1,4}:){0,1}[0-9a-f]{1,4})?::(?:[0-9a-f]{1,4}:){3}|(?:(?:[0-9a-f]{1,4}:){0,2}[0-9a-f]{1,4})?::(?:[0-9a-f]{1,4}:){2}|(?:(?:[0-9a-f]{1,4}:){0,3}[0-9a-f]{1,4})?::[0-9a-f]{1,4}:|(?:(?:[0-9a-f]{1,4}:){0,4}[0-9a-f]{1,4})?::)(?:[0-9a-f]{1,4}:[0-9a-f]{1,4}|(?:(?:25[0-5]|2[0-4]\d|[01]?\d\d?)\.){3}(?:25[0-5]|2[0-4]\d|[01]?\d\d?))|(?:(?:[0-9a-f]{1,4}:){0,5}[0-9a-f]{1,4})?::[0-9a-f]{1,4}|(?:(?:[0-9a-f]{1,4}:){0,6}[0-9a-f]{1,4})?::)|[Vv][0-9a-f]+\.[a-z0-9\-._~!$&'()*+,;=:]+)\]|(?:(?:25[0-5]|2[0-4]\d|[01]?\d\d?)\.){3}(?:25[0-5]|2[0-4]\d|[01]?\d\d?)|(?:[a-z0-9\-._~!$&'()*+,;=]|%[0-9a-f]{2})*)(?::\d*)?(?:\/(?:[a-z0-9\-._~!$&'()*+,;=:@]|%[0-9a-f]{2})*)*|\/(?:(?:[a-z0-9\-._~!$&'()*+,;=:@]|%[0-9a-f]{2})+(?:\/(?:[a-z0-9\-._~!$&'()*+,;=:@]|%[0-9a-f]{2})*)*)?|(?:[a-z0-9\-._~!$&'()*+,;=:@]|%[0-9a-f]{2})+(?:\/(?:[a-z0-9\-._~!$&'()*+,;=:@]|%[0-9a-f]{2})*)*)(?:\?(?:[a-z0-9\-._~!$&'()*+,;=:@/?]|%[0-9a-f]{2})*)?(?:#(?:[a-z0-9\-._~!$&'()*+,;=:@/?]|%[0-9a-f]{2})*)?$/i;
function uri(str) {
return NOT_URI_FRAGMENT.test(str) && URI.test(str);
}
var BYTE = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/gm;
function byte(str) {
BYTE.lastIndex = 0;
return BYTE.test(str);
}
var MIN_INT32 = -(2 ** 31);
var MAX_INT32 = 2 ** 31 - 1;
function validateInt32(value) {
return Number.isInteger(value) && value <= MAX_INT32 && value >= MIN_INT32;
}
function validateInt64(value) {
return Number.isInteger(value);
}
function validateNumber() {
return true;
}
var Z_ANCHOR = /[^\\]\\Z/;
function regex(str) {
if (Z_ANCHOR.test(str))
return false;
try {
new RegExp(str);
return true;
} catch (e) {
return false;
}
}
});
var validateAllowedParams = validate20;
var schema31 = { type: "object", additionalProperties: false, properties: { max_n: { type: "integer", minimum: 1 }, aspect_ratios: { type: "array", items: { type: "string" } }, image_sizes: { type: "array", items: { type: "string" } }, sizes: { type: "array", items: { type: "string" } }, resolutions: { type: "array", items: { type: "string" } }, qualities: { type: "array", items: { type: "string" } }, styles: { type: "array", items: { type: "string" } }, background: { type: "array", items: { type: "string" } }, output_formats: { type: "array", items: { type: "string" } }, response_formats: { type: "array", items: { type: "string" } }, person_generation: { type: "array", items: { type: "string" } }, voices: { type: "array", items: { type: "string" } }, supported_inputs: { type: "array", items: { type: "string" } }, accepts_voice_instructions: { type: "boolean" }, requires_voice_instructions: { type: "boolean" }, durations: { type: "array", items: { type: "integer", minimum: 0 } }, default_duration: { type: "integer", minimum: 0 }, max_duration_seconds: { type: "integer", minimum: 0 }, default_params: { type: "object" }, strength: { type: "object", additionalProperties: false, required: ["min", "max", "required"], properties: { min: { type: "number" }, max: { type: "number" }, required: { type: "boolean" } } }, requires_input_image: { type: "boolean" }, requires_input_video: { type: "boolean" }, requires_input_audio: { type: "boolean" }, requires_input_3d: { type: "boolean" }, accepts_input_image: { type: "boolean" }, accepts_input_video: { type: "boolean" }, max_file_size_bytes: { type: "integer", minimum: 0 }, max_image_size_bytes: { type: "integer", minimum: 0 }, max_pdf_size_bytes: { type: "integer", minimum: 0 }, max_pdf_pages: { type: "integer", minimum: 0 }, max_audio_size_bytes: { type: "integer", minimum: 0 }, max_audio_duration_seconds: { type: "integer", minimum: 0 }, max_files: { type: "integer", minimum: 0 } } };
var func1 = Object.prototype.hasOwnProperty;
function validate20(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate20.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
const _errs1 = errors;
for (const key0 in data) {
if (!func1.call(schema31.properties, key0)) {
validate20.errors = [{ instancePath, schemaPath: "#/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } }];
return false;
break;
}
}
if (_errs1 === errors) {
if (data.max_n !== undefined) {
let data0 = data.max_n;
const _errs2 = errors;
if (!(typeof data0 == "number" && (!(data0 % 1) && !isNaN(data0)) && isFinite(data0))) {
validate20.errors = [{ instancePath: instancePath + "/max_n", schemaPath: "#/properties/max_n/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs2) {
if (typeof data0 == "number" && isFinite(data0)) {
if (data0 < 1 || isNaN(data0)) {
validate20.errors = [{ instancePath: instancePath + "/max_n", schemaPath: "#/properties/max_n/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.aspect_ratios !== undefined) {
let data1 = data.aspect_ratios;
const _errs4 = errors;
if (errors === _errs4) {
if (Array.isArray(data1)) {
var valid1 = true;
const len0 = data1.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs6 = errors;
if (typeof data1[i0] !== "string") {
validate20.errors = [{ instancePath: instancePath + "/aspect_ratios/" + i0, schemaPath: "#/properties/aspect_ratios/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid1 = _errs6 === errors;
if (!valid1) {
break;
}
}
} else {
validate20.errors = [{ instancePath: instancePath + "/aspect_ratios", schemaPath: "#/properties/aspect_ratios/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.image_sizes !== undefined) {
let data3 = data.image_sizes;
const _errs8 = errors;
if (errors === _errs8) {
if (Array.isArray(data3)) {
var valid2 = true;
const len1 = data3.length;
for (let i1 = 0;i1 < len1; i1++) {
const _errs10 = errors;
if (typeof data3[i1] !== "string") {
validate20.errors = [{ instancePath: instancePath + "/image_sizes/" + i1, schemaPath: "#/properties/image_sizes/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid2 = _errs10 === errors;
if (!valid2) {
break;
}
}
} else {
validate20.errors = [{ instancePath: instancePath + "/image_sizes", schemaPath: "#/properties/image_sizes/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs8 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.sizes !== undefined) {
let data5 = data.sizes;
const _errs12 = errors;
if (errors === _errs12) {
if (Array.isArray(data5)) {
var valid3 = true;
const len2 = data5.length;
for (let i2 = 0;i2 < len2; i2++) {
const _errs14 = errors;
if (typeof data5[i2] !== "string") {
validate20.errors = [{ instancePath: instancePath + "/sizes/" + i2, schemaPath: "#/properties/sizes/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid3 = _errs14 === errors;
if (!valid3) {
break;
}
}
} else {
validate20.errors = [{ instancePath: instancePath + "/sizes", schemaPath: "#/properties/sizes/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs12 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.resolutions !== undefined) {
let data7 = data.resolutions;
const _errs16 = errors;
if (errors === _errs16) {
if (Array.isArray(data7)) {
var valid4 = true;
const len3 = data7.length;
for (let i3 = 0;i3 < len3; i3++) {
const _errs18 = errors;
if (typeof data7[i3] !== "string") {
validate20.errors = [{ instancePath: instancePath + "/resolutions/" + i3, schemaPath: "#/properties/resolutions/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid4 = _errs18 === errors;
if (!valid4) {
break;
}
}
} else {
validate20.errors = [{ instancePath: instancePath + "/resolutions", schemaPath: "#/properties/resolutions/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs16 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.qualities !== undefined) {
let data9 = data.qualities;
const _errs20 = errors;
if (errors === _errs20) {
if (Array.isArray(data9)) {
var valid5 = true;
const len4 = data9.length;
for (let i4 = 0;i4 < len4; i4++) {
const _errs22 = errors;
if (typeof data9[i4] !== "string") {
validate20.errors = [{ instancePath: instancePath + "/qualities/" + i4, schemaPath: "#/properties/qualities/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid5 = _errs22 === errors;
if (!valid5) {
break;
}
}
} else {
validate20.errors = [{ instancePath: instancePath + "/qualities", schemaPath: "#/properties/qualities/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs20 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.styles !== undefined) {
let data11 = data.styles;
const _errs24 = errors;
if (errors === _errs24) {
if (Array.isArray(data11)) {
var valid6 = true;
const len5 = data11.length;
for (let i5 = 0;i5 < len5; i5++) {
const _errs26 = errors;
if (typeof data11[i5] !== "string") {
validate20.errors = [{ instancePath: instancePath + "/styles/" + i5, schemaPath: "#/properties/styles/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid6 = _errs26 === errors;
if (!valid6) {
break;
}
}
} else {
validate20.errors = [{ instancePath: instancePath + "/styles", schemaPath: "#/properties/styles/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs24 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.background !== undefined) {
let data13 = data.background;
const _errs28 = errors;
if (errors === _errs28) {
if (Array.isArray(data13)) {
var valid7 = true;
const len6 = data13.length;
for (let i6 = 0;i6 < len6; i6++) {
const _errs30 = errors;
if (typeof data13[i6] !== "string") {
validate20.errors = [{ instancePath: instancePath + "/background/" + i6, schemaPath: "#/properties/background/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid7 = _errs30 === errors;
if (!valid7) {
break;
}
}
} else {
validate20.errors = [{ instancePath: instancePath + "/background", schemaPath: "#/properties/background/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs28 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.output_formats !== undefined) {
let data15 = data.output_formats;
const _errs32 = errors;
if (errors === _errs32) {
if (Array.isArray(data15)) {
var valid8 = true;
const len7 = data15.length;
for (let i7 = 0;i7 < len7; i7++) {
const _errs34 = errors;
if (typeof data15[i7] !== "string") {
validate20.errors = [{ instancePath: instancePath + "/output_formats/" + i7, schemaPath: "#/properties/output_formats/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid8 = _errs34 === errors;
if (!valid8) {
break;
}
}
} else {
validate20.errors = [{ instancePath: instancePath + "/output_formats", schemaPath: "#/properties/output_formats/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs32 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.response_formats !== undefined) {
let data17 = data.response_formats;
const _errs36 = errors;
if (errors === _errs36) {
if (Array.isArray(data17)) {
var valid9 = true;
const len8 = data17.length;
for (let i8 = 0;i8 < len8; i8++) {
const _errs38 = errors;
if (typeof data17[i8] !== "string") {
validate20.errors = [{ instancePath: instancePath + "/response_formats/" + i8, schemaPath: "#/properties/response_formats/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid9 = _errs38 === errors;
if (!valid9) {
break;
}
}
} else {
validate20.errors = [{ instancePath: instancePath + "/response_formats", schemaPath: "#/properties/response_formats/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs36 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.person_generation !== undefined) {
let data19 = data.person_generation;
const _errs40 = errors;
if (errors === _errs40) {
if (Array.isArray(data19)) {
var valid10 = true;
const len9 = data19.length;
for (let i9 = 0;i9 < len9; i9++) {
const _errs42 = errors;
if (typeof data19[i9] !== "string") {
validate20.errors = [{ instancePath: instancePath + "/person_generation/" + i9, schemaPath: "#/properties/person_generation/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid10 = _errs42 === errors;
if (!valid10) {
break;
}
}
} else {
validate20.errors = [{ instancePath: instancePath + "/person_generation", schemaPath: "#/properties/person_generation/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs40 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.voices !== undefined) {
let data21 = data.voices;
const _errs44 = errors;
if (errors === _errs44) {
if (Array.isArray(data21)) {
var valid11 = true;
const len10 = data21.length;
for (let i10 = 0;i10 < len10; i10++) {
const _errs46 = errors;
if (typeof data21[i10] !== "string") {
validate20.errors = [{ instancePath: instancePath + "/voices/" + i10, schemaPath: "#/properties/voices/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid11 = _errs46 === errors;
if (!valid11) {
break;
}
}
} else {
validate20.errors = [{ instancePath: instancePath + "/voices", schemaPath: "#/properties/voices/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs44 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.supported_inputs !== undefined) {
let data23 = data.supported_inputs;
const _errs48 = errors;
if (errors === _errs48) {
if (Array.isArray(data23)) {
var valid12 = true;
const len11 = data23.length;
for (let i11 = 0;i11 < len11; i11++) {
const _errs50 = errors;
if (typeof data23[i11] !== "string") {
validate20.errors = [{ instancePath: instancePath + "/supported_inputs/" + i11, schemaPath: "#/properties/supported_inputs/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid12 = _errs50 === errors;
if (!valid12) {
break;
}
}
} else {
validate20.errors = [{ instancePath: instancePath + "/supported_inputs", schemaPath: "#/properties/supported_inputs/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs48 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.accepts_voice_instructions !== undefined) {
const _errs52 = errors;
if (typeof data.accepts_voice_instructions !== "boolean") {
validate20.errors = [{ instancePath: instancePath + "/accepts_voice_instructions", schemaPath: "#/properties/accepts_voice_instructions/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs52 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.requires_voice_instructions !== undefined) {
const _errs54 = errors;
if (typeof data.requires_voice_instructions !== "boolean") {
validate20.errors = [{ instancePath: instancePath + "/requires_voice_instructions", schemaPath: "#/properties/requires_voice_instructions/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs54 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.durations !== undefined) {
let data27 = data.durations;
const _errs56 = errors;
if (errors === _errs56) {
if (Array.isArray(data27)) {
var valid13 = true;
const len12 = data27.length;
for (let i12 = 0;i12 < len12; i12++) {
let data28 = data27[i12];
const _errs58 = errors;
if (!(typeof data28 == "number" && (!(data28 % 1) && !isNaN(data28)) && isFinite(data28))) {
validate20.errors = [{ instancePath: instancePath + "/durations/" + i12, schemaPath: "#/properties/durations/items/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs58) {
if (typeof data28 == "number" && isFinite(data28)) {
if (data28 < 0 || isNaN(data28)) {
validate20.errors = [{ instancePath: instancePath + "/durations/" + i12, schemaPath: "#/properties/durations/items/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid13 = _errs58 === errors;
if (!valid13) {
break;
}
}
} else {
validate20.errors = [{ instancePath: instancePath + "/durations", schemaPath: "#/properties/durations/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs56 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.default_duration !== undefined) {
let data29 = data.default_duration;
const _errs60 = errors;
if (!(typeof data29 == "number" && (!(data29 % 1) && !isNaN(data29)) && isFinite(data29))) {
validate20.errors = [{ instancePath: instancePath + "/default_duration", schemaPath: "#/properties/default_duration/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs60) {
if (typeof data29 == "number" && isFinite(data29)) {
if (data29 < 0 || isNaN(data29)) {
validate20.errors = [{ instancePath: instancePath + "/default_duration", schemaPath: "#/properties/default_duration/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs60 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.max_duration_seconds !== undefined) {
let data30 = data.max_duration_seconds;
const _errs62 = errors;
if (!(typeof data30 == "number" && (!(data30 % 1) && !isNaN(data30)) && isFinite(data30))) {
validate20.errors = [{ instancePath: instancePath + "/max_duration_seconds", schemaPath: "#/properties/max_duration_seconds/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs62) {
if (typeof data30 == "number" && isFinite(data30)) {
if (data30 < 0 || isNaN(data30)) {
validate20.errors = [{ instancePath: instancePath + "/max_duration_seconds", schemaPath: "#/properties/max_duration_seconds/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs62 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.default_params !== undefined) {
let data31 = data.default_params;
const _errs64 = errors;
if (!(data31 && typeof data31 == "object" && !Array.isArray(data31))) {
validate20.errors = [{ instancePath: instancePath + "/default_params", schemaPath: "#/properties/default_params/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid0 = _errs64 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.strength !== undefined) {
let data32 = data.strength;
const _errs66 = errors;
if (errors === _errs66) {
if (data32 && typeof data32 == "object" && !Array.isArray(data32)) {
let missing0;
if (data32.min === undefined && (missing0 = "min") || data32.max === undefined && (missing0 = "max") || data32.required === undefined && (missing0 = "required")) {
validate20.errors = [{ instancePath: instancePath + "/strength", schemaPath: "#/properties/strength/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
const _errs68 = errors;
for (const key1 in data32) {
if (!(key1 === "min" || key1 === "max" || key1 === "required")) {
validate20.errors = [{ instancePath: instancePath + "/strength", schemaPath: "#/properties/strength/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key1 } }];
return false;
break;
}
}
if (_errs68 === errors) {
if (data32.min !== undefined) {
let data33 = data32.min;
const _errs69 = errors;
if (!(typeof data33 == "number" && isFinite(data33))) {
validate20.errors = [{ instancePath: instancePath + "/strength/min", schemaPath: "#/properties/strength/properties/min/type", keyword: "type", params: { type: "number" } }];
return false;
}
var valid14 = _errs69 === errors;
} else {
var valid14 = true;
}
if (valid14) {
if (data32.max !== undefined) {
let data34 = data32.max;
const _errs71 = errors;
if (!(typeof data34 == "number" && isFinite(data34))) {
validate20.errors = [{ instancePath: instancePath + "/strength/max", schemaPath: "#/properties/strength/properties/max/type", keyword: "type", params: { type: "number" } }];
return false;
}
var valid14 = _errs71 === errors;
} else {
var valid14 = true;
}
if (valid14) {
if (data32.required !== undefined) {
const _errs73 = errors;
if (typeof data32.required !== "boolean") {
validate20.errors = [{ instancePath: instancePath + "/strength/required", schemaPath: "#/properties/strength/properties/required/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid14 = _errs73 === errors;
} else {
var valid14 = true;
}
}
}
}
}
} else {
validate20.errors = [{ instancePath: instancePath + "/strength", schemaPath: "#/properties/strength/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs66 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.requires_input_image !== undefined) {
const _errs75 = errors;
if (typeof data.requires_input_image !== "boolean") {
validate20.errors = [{ instancePath: instancePath + "/requires_input_image", schemaPath: "#/properties/requires_input_image/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs75 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.requires_input_video !== undefined) {
const _errs77 = errors;
if (typeof data.requires_input_video !== "boolean") {
validate20.errors = [{ instancePath: instancePath + "/requires_input_video", schemaPath: "#/properties/requires_input_video/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs77 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.requires_input_audio !== undefined) {
const _errs79 = errors;
if (typeof data.requires_input_audio !== "boolean") {
validate20.errors = [{ instancePath: instancePath + "/requires_input_audio", schemaPath: "#/properties/requires_input_audio/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs79 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.requires_input_3d !== undefined) {
const _errs81 = errors;
if (typeof data.requires_input_3d !== "boolean") {
validate20.errors = [{ instancePath: instancePath + "/requires_input_3d", schemaPath: "#/properties/requires_input_3d/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs81 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.accepts_input_image !== undefined) {
const _errs83 = errors;
if (typeof data.accepts_input_image !== "boolean") {
validate20.errors = [{ instancePath: instancePath + "/accepts_input_image", schemaPath: "#/properties/accepts_input_image/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs83 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.accepts_input_video !== undefined) {
const _errs85 = errors;
if (typeof data.accepts_input_video !== "boolean") {
validate20.errors = [{ instancePath: instancePath + "/accepts_input_video", schemaPath: "#/properties/accepts_input_video/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs85 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.max_file_size_bytes !== undefined) {
let data42 = data.max_file_size_bytes;
const _errs87 = errors;
if (!(typeof data42 == "number" && (!(data42 % 1) && !isNaN(data42)) && isFinite(data42))) {
validate20.errors = [{ instancePath: instancePath + "/max_file_size_bytes", schemaPath: "#/properties/max_file_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs87) {
if (typeof data42 == "number" && isFinite(data42)) {
if (data42 < 0 || isNaN(data42)) {
validate20.errors = [{ instancePath: instancePath + "/max_file_size_bytes", schemaPath: "#/properties/max_file_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs87 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.max_image_size_bytes !== undefined) {
let data43 = data.max_image_size_bytes;
const _errs89 = errors;
if (!(typeof data43 == "number" && (!(data43 % 1) && !isNaN(data43)) && isFinite(data43))) {
validate20.errors = [{ instancePath: instancePath + "/max_image_size_bytes", schemaPath: "#/properties/max_image_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs89) {
if (typeof data43 == "number" && isFinite(data43)) {
if (data43 < 0 || isNaN(data43)) {
validate20.errors = [{ instancePath: instancePath + "/max_image_size_bytes", schemaPath: "#/properties/max_image_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs89 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.max_pdf_size_bytes !== undefined) {
let data44 = data.max_pdf_size_bytes;
const _errs91 = errors;
if (!(typeof data44 == "number" && (!(data44 % 1) && !isNaN(data44)) && isFinite(data44))) {
validate20.errors = [{ instancePath: instancePath + "/max_pdf_size_bytes", schemaPath: "#/properties/max_pdf_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs91) {
if (typeof data44 == "number" && isFinite(data44)) {
if (data44 < 0 || isNaN(data44)) {
validate20.errors = [{ instancePath: instancePath + "/max_pdf_size_bytes", schemaPath: "#/properties/max_pdf_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs91 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.max_pdf_pages !== undefined) {
let data45 = data.max_pdf_pages;
const _errs93 = errors;
if (!(typeof data45 == "number" && (!(data45 % 1) && !isNaN(data45)) && isFinite(data45))) {
validate20.errors = [{ instancePath: instancePath + "/max_pdf_pages", schemaPath: "#/properties/max_pdf_pages/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs93) {
if (typeof data45 == "number" && isFinite(data45)) {
if (data45 < 0 || isNaN(data45)) {
validate20.errors = [{ instancePath: instancePath + "/max_pdf_pages", schemaPath: "#/properties/max_pdf_pages/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs93 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.max_audio_size_bytes !== undefined) {
let data46 = data.max_audio_size_bytes;
const _errs95 = errors;
if (!(typeof data46 == "number" && (!(data46 % 1) && !isNaN(data46)) && isFinite(data46))) {
validate20.errors = [{ instancePath: instancePath + "/max_audio_size_bytes", schemaPath: "#/properties/max_audio_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs95) {
if (typeof data46 == "number" && isFinite(data46)) {
if (data46 < 0 || isNaN(data46)) {
validate20.errors = [{ instancePath: instancePath + "/max_audio_size_bytes", schemaPath: "#/properties/max_audio_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs95 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.max_audio_duration_seconds !== undefined) {
let data47 = data.max_audio_duration_seconds;
const _errs97 = errors;
if (!(typeof data47 == "number" && (!(data47 % 1) && !isNaN(data47)) && isFinite(data47))) {
validate20.errors = [{ instancePath: instancePath + "/max_audio_duration_seconds", schemaPath: "#/properties/max_audio_duration_seconds/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs97) {
if (typeof data47 == "number" && isFinite(data47)) {
if (data47 < 0 || isNaN(data47)) {
validate20.errors = [{ instancePath: instancePath + "/max_audio_duration_seconds", schemaPath: "#/properties/max_audio_duration_seconds/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs97 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.max_files !== undefined) {
let data48 = data.max_files;
const _errs99 = errors;
if (!(typeof data48 == "number" && (!(data48 % 1) && !isNaN(data48)) && isFinite(data48))) {
validate20.errors = [{ instancePath: instancePath + "/max_files", schemaPath: "#/properties/max_files/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs99) {
if (typeof data48 == "number" && isFinite(data48)) {
if (data48 < 0 || isNaN(data48)) {
validate20.errors = [{ instancePath: instancePath + "/max_files", schemaPath: "#/properties/max_files/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs99 === errors;
} else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
} else {
validate20.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate20.errors = vErrors;
return errors === 0;
}
validate20.evaluated = { props: true, dynamicProps: false, dynamicItems: false };
var validateCatalogueFile = validate21;
var schema33 = { type: "object", additionalProperties: false, required: ["id"], properties: { id: { type: "string", pattern: "^[a-z0-9][a-z0-9-]{0,63}$" }, disabled: { type: "boolean" }, family: { type: "string", enum: ["sandbox", "openai-compatible"] }, base_url: { type: "string", minLength: 1, maxLength: 2000 }, api_key_env: { type: "string", pattern: "^[A-Z][A-Z0-9_]*_API_KEY$" } } };
var schema34 = { type: "object", additionalProperties: false, required: ["name"], properties: { name: { type: "string", pattern: "^[a-z0-9][a-z0-9_-]{0,63}$" }, disabled: { type: "boolean" }, requests_per_minute: { type: ["integer", "null"], minimum: 1, maximum: 4095 }, daily_tokens: { type: ["integer", "null"], minimum: 1, maximum: 9007199254740991 } } };
var pattern4 = new RegExp("^[a-z0-9][a-z0-9-]{0,63}$", "u");
var pattern5 = new RegExp("^[A-Z][A-Z0-9_]*_API_KEY$", "u");
var pattern6 = new RegExp("^[a-z0-9][a-z0-9_-]{0,63}$", "u");
var func2 = require_ucs2length().default;
var schema35 = { type: "object", additionalProperties: false, required: ["slug"], properties: { slug: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$" }, disabled: { type: "boolean" }, kind: { type: "string", enum: ["model", "tool"] }, modality: { $ref: "Modality" }, owned_by: { type: "string", minLength: 1, maxLength: 100 }, created: { type: "integer", minimum: 0 }, supports_chat: { type: "boolean" }, supports_embeddings: { type: "boolean" }, supports_streaming: { type: "boolean" }, supports_tools: { type: "boolean" }, supports_json: { type: "boolean" }, max_context_tokens: { type: "integer", minimum: 0, maximum: 1e8 }, max_output_tokens: { type: "integer", minimum: 0, maximum: 1e8 }, tokens_per_image_max: { type: "integer", minimum: 1, maximum: 1e6 }, pricing: { $ref: "PricingText" }, price_source: { $ref: "PriceSource" }, allowed_params: { $ref: "AllowedParams" }, sources: { type: "array", minItems: 1, items: { $ref: "SourceEntry" } } } };
var schema36 = { type: "string", enum: ["text", "image", "audio", "stt", "video", "music", "embedding", "upscale", "vision", "object_3d"] };
var pattern7 = new RegExp("^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$", "u");
var schema37 = { type: "object", additionalProperties: false, properties: { currency: { const: "credits" }, unit: { $ref: "PriceUnit" }, input_per_million: { type: "string", minLength: 1, maxLength: 40 }, output_per_million: { type: "string", minLength: 1, maxLength: 40 }, audio_input_per_million: { type: "string", minLength: 1, maxLength: 40 }, audio_output_per_million: { type: "string", minLength: 1, maxLength: 40 }, image_input_per_million: { type: "string", minLength: 1, maxLength: 40 }, image_output_per_million: { type: "string", minLength: 1, maxLength: 40 }, cached_input_per_million: { type: "string", minLength: 1, maxLength: 40 }, cache_write_per_million: { type: "string", minLength: 1, maxLength: 40 }, cache_write_1h_per_million: { type: "string", minLength: 1, maxLength: 40 }, request_price: { type: "string", minLength: 1, maxLength: 40 }, image_price: { type: "string", minLength: 1, maxLength: 40 }, second_price: { type: "string", minLength: 1, maxLength: 40 }, minute_price: { type: "string", minLength: 1, maxLength: 40 }, character_price: { type: "string", minLength: 1, maxLength: 40 }, operation_price: { type: "string", minLength: 1, maxLength: 40 }, megapixel_price: { type: "string", minLength: 1, maxLength: 40 } } };
var schema38 = { type: "string", enum: ["per_token", "per_request", "per_image", "per_second", "per_minute", "per_character", "per_operation", "per_megapixel"] };
function validate23(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate23.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
const _errs1 = errors;
for (const key0 in data) {
if (!func1.call(schema37.properties, key0)) {
validate23.errors = [{ instancePath, schemaPath: "#/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } }];
return false;
break;
}
}
if (_errs1 === errors) {
if (data.currency !== undefined) {
const _errs2 = errors;
if (data.currency !== "credits") {
validate23.errors = [{ instancePath: instancePath + "/currency", schemaPath: "#/properties/currency/const", keyword: "const", params: { allowedValue: "credits" } }];
return false;
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.unit !== undefined) {
let data1 = data.unit;
const _errs3 = errors;
if (typeof data1 !== "string") {
validate23.errors = [{ instancePath: instancePath + "/unit", schemaPath: "PriceUnit/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data1 === "per_token" || data1 === "per_request" || data1 === "per_image" || data1 === "per_second" || data1 === "per_minute" || data1 === "per_character" || data1 === "per_operation" || data1 === "per_megapixel")) {
validate23.errors = [{ instancePath: instancePath + "/unit", schemaPath: "PriceUnit/enum", keyword: "enum", params: { allowedValues: schema38.enum } }];
return false;
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.input_per_million !== undefined) {
let data2 = data.input_per_million;
const _errs6 = errors;
if (errors === _errs6) {
if (typeof data2 === "string") {
if (func2(data2) > 40) {
validate23.errors = [{ instancePath: instancePath + "/input_per_million", schemaPath: "#/properties/input_per_million/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func2(data2) < 1) {
validate23.errors = [{ instancePath: instancePath + "/input_per_million", schemaPath: "#/properties/input_per_million/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate23.errors = [{ instancePath: instancePath + "/input_per_million", schemaPath: "#/properties/input_per_million/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs6 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.output_per_million !== undefined) {
let data3 = data.output_per_million;
const _errs8 = errors;
if (errors === _errs8) {
if (typeof data3 === "string") {
if (func2(data3) > 40) {
validate23.errors = [{ instancePath: instancePath + "/output_per_million", schemaPath: "#/properties/output_per_million/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func2(data3) < 1) {
validate23.errors = [{ instancePath: instancePath + "/output_per_million", schemaPath: "#/properties/output_per_million/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate23.errors = [{ instancePath: instancePath + "/output_per_million", schemaPath: "#/properties/output_per_million/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs8 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.audio_input_per_million !== undefined) {
let data4 = data.audio_input_per_million;
const _errs10 = errors;
if (errors === _errs10) {
if (typeof data4 === "string") {
if (func2(data4) > 40) {
validate23.errors = [{ instancePath: instancePath + "/audio_input_per_million", schemaPath: "#/properties/audio_input_per_million/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func2(data4) < 1) {
validate23.errors = [{ instancePath: instancePath + "/audio_input_per_million", schemaPath: "#/properties/audio_input_per_million/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate23.errors = [{ instancePath: instancePath + "/audio_input_per_million", schemaPath: "#/properties/audio_input_per_million/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs10 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.audio_output_per_million !== undefined) {
let data5 = data.audio_output_per_million;
const _errs12 = errors;
if (errors === _errs12) {
if (typeof data5 === "string") {
if (func2(data5) > 40) {
validate23.errors = [{ instancePath: instancePath + "/audio_output_per_million", schemaPath: "#/properties/audio_output_per_million/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func2(data5) < 1) {
validate23.errors = [{ instancePath: instancePath + "/audio_output_per_million", schemaPath: "#/properties/audio_output_per_million/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate23.errors = [{ instancePath: instancePath + "/audio_output_per_million", schemaPath: "#/properties/audio_output_per_million/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs12 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.image_input_per_million !== undefined) {
let data6 = data.image_input_per_million;
const _errs14 = errors;
if (errors === _errs14) {
if (typeof data6 === "string") {
if (func2(data6) > 40) {
validate23.errors = [{ instancePath: instancePath + "/image_input_per_million", schemaPath: "#/properties/image_input_per_million/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func2(data6) < 1) {
validate23.errors = [{ instancePath: instancePath + "/image_input_per_million", schemaPath: "#/properties/image_input_per_million/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate23.errors = [{ instancePath: instancePath + "/image_input_per_million", schemaPath: "#/properties/image_input_per_million/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs14 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.image_output_per_million !== undefined) {
let data7 = data.image_output_per_million;
const _errs16 = errors;
if (errors === _errs16) {
if (typeof data7 === "string") {
if (func2(data7) > 40) {
validate23.errors = [{ instancePath: instancePath + "/image_output_per_million", schemaPath: "#/properties/image_output_per_million/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func2(data7) < 1) {
validate23.errors = [{ instancePath: instancePath + "/image_output_per_million", schemaPath: "#/properties/image_output_per_million/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate23.errors = [{ instancePath: instancePath + "/image_output_per_million", schemaPath: "#/properties/image_output_per_million/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs16 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.cached_input_per_million !== undefined) {
let data8 = data.cached_input_per_million;
const _errs18 = errors;
if (errors === _errs18) {
if (typeof data8 === "string") {
if (func2(data8) > 40) {
validate23.errors = [{ instancePath: instancePath + "/cached_input_per_million", schemaPath: "#/properties/cached_input_per_million/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func2(data8) < 1) {
validate23.errors = [{ instancePath: instancePath + "/cached_input_per_million", schemaPath: "#/properties/cached_input_per_million/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate23.errors = [{ instancePath: instancePath + "/cached_input_per_million", schemaPath: "#/properties/cached_input_per_million/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs18 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.cache_write_per_million !== undefined) {
let data9 = data.cache_write_per_million;
const _errs20 = errors;
if (errors === _errs20) {
if (typeof data9 === "string") {
if (func2(data9) > 40) {
validate23.errors = [{ instancePath: instancePath + "/cache_write_per_million", schemaPath: "#/properties/cache_write_per_million/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func2(data9) < 1) {
validate23.errors = [{ instancePath: instancePath + "/cache_write_per_million", schemaPath: "#/properties/cache_write_per_million/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate23.errors = [{ instancePath: instancePath + "/cache_write_per_million", schemaPath: "#/properties/cache_write_per_million/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs20 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.cache_write_1h_per_million !== undefined) {
let data10 = data.cache_write_1h_per_million;
const _errs22 = errors;
if (errors === _errs22) {
if (typeof data10 === "string") {
if (func2(data10) > 40) {
validate23.errors = [{ instancePath: instancePath + "/cache_write_1h_per_million", schemaPath: "#/properties/cache_write_1h_per_million/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func2(data10) < 1) {
validate23.errors = [{ instancePath: instancePath + "/cache_write_1h_per_million", schemaPath: "#/properties/cache_write_1h_per_million/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate23.errors = [{ instancePath: instancePath + "/cache_write_1h_per_million", schemaPath: "#/properties/cache_write_1h_per_million/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs22 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.request_price !== undefined) {
let data11 = data.request_price;
const _errs24 = errors;
if (errors === _errs24) {
if (typeof data11 === "string") {
if (func2(data11) > 40) {
validate23.errors = [{ instancePath: instancePath + "/request_price", schemaPath: "#/properties/request_price/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func2(data11) < 1) {
validate23.errors = [{ instancePath: instancePath + "/request_price", schemaPath: "#/properties/request_price/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate23.errors = [{ instancePath: instancePath + "/request_price", schemaPath: "#/properties/request_price/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs24 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.image_price !== undefined) {
let data12 = data.image_price;
const _errs26 = errors;
if (errors === _errs26) {
if (typeof data12 === "string") {
if (func2(data12) > 40) {
validate23.errors = [{ instancePath: instancePath + "/image_price", schemaPath: "#/properties/image_price/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func2(data12) < 1) {
validate23.errors = [{ instancePath: instancePath + "/image_price", schemaPath: "#/properties/image_price/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate23.errors = [{ instancePath: instancePath + "/image_price", schemaPath: "#/properties/image_price/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs26 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.second_price !== undefined) {
let data13 = data.second_price;
const _errs28 = errors;
if (errors === _errs28) {
if (typeof data13 === "string") {
if (func2(data13) > 40) {
validate23.errors = [{ instancePath: instancePath + "/second_price", schemaPath: "#/properties/second_price/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func2(data13) < 1) {
validate23.errors = [{ instancePath: instancePath + "/second_price", schemaPath: "#/properties/second_price/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate23.errors = [{ instancePath: instancePath + "/second_price", schemaPath: "#/properties/second_price/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs28 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.minute_price !== undefined) {
let data14 = data.minute_price;
const _errs30 = errors;
if (errors === _errs30) {
if (typeof data14 === "string") {
if (func2(data14) > 40) {
validate23.errors = [{ instancePath: instancePath + "/minute_price", schemaPath: "#/properties/minute_price/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func2(data14) < 1) {
validate23.errors = [{ instancePath: instancePath + "/minute_price", schemaPath: "#/properties/minute_price/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate23.errors = [{ instancePath: instancePath + "/minute_price", schemaPath: "#/properties/minute_price/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs30 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.character_price !== undefined) {
let data15 = data.character_price;
const _errs32 = errors;
if (errors === _errs32) {
if (typeof data15 === "string") {
if (func2(data15) > 40) {
validate23.errors = [{ instancePath: instancePath + "/character_price", schemaPath: "#/properties/character_price/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func2(data15) < 1) {
validate23.errors = [{ instancePath: instancePath + "/character_price", schemaPath: "#/properties/character_price/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate23.errors = [{ instancePath: instancePath + "/character_price", schemaPath: "#/properties/character_price/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs32 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.operation_price !== undefined) {
let data16 = data.operation_price;
const _errs34 = errors;
if (errors === _errs34) {
if (typeof data16 === "string") {
if (func2(data16) > 40) {
validate23.errors = [{ instancePath: instancePath + "/operation_price", schemaPath: "#/properties/operation_price/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func2(data16) < 1) {
validate23.errors = [{ instancePath: instancePath + "/operation_price", schemaPath: "#/properties/operation_price/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate23.errors = [{ instancePath: instancePath + "/operation_price", schemaPath: "#/properties/operation_price/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs34 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.megapixel_price !== undefined) {
let data17 = data.megapixel_price;
const _errs36 = errors;
if (errors === _errs36) {
if (typeof data17 === "string") {
if (func2(data17) > 40) {
validate23.errors = [{ instancePath: instancePath + "/megapixel_price", schemaPath: "#/properties/megapixel_price/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func2(data17) < 1) {
validate23.errors = [{ instancePath: instancePath + "/megapixel_price", schemaPath: "#/properties/megapixel_price/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate23.errors = [{ instancePath: instancePath + "/megapixel_price", schemaPath: "#/properties/megapixel_price/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs36 === errors;
} else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
} else {
validate23.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate23.errors = vErrors;
return errors === 0;
}
validate23.evaluated = { props: true, dynamicProps: false, dynamicItems: false };
var formats0 = require_formats().fullFormats.date;
function validate22(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate22.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.slug === undefined && (missing0 = "slug")) {
validate22.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
const _errs1 = errors;
for (const key0 in data) {
if (!func1.call(schema35.properties, key0)) {
validate22.errors = [{ instancePath, schemaPath: "#/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } }];
return false;
break;
}
}
if (_errs1 === errors) {
if (data.slug !== undefined) {
let data0 = data.slug;
const _errs2 = errors;
if (errors === _errs2) {
if (typeof data0 === "string") {
if (!pattern7.test(data0)) {
validate22.errors = [{ instancePath: instancePath + "/slug", schemaPath: "#/properties/slug/pattern", keyword: "pattern", params: { pattern: "^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$" } }];
return false;
}
} else {
validate22.errors = [{ instancePath: instancePath + "/slug", schemaPath: "#/properties/slug/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.disabled !== undefined) {
const _errs4 = errors;
if (typeof data.disabled !== "boolean") {
validate22.errors = [{ instancePath: instancePath + "/disabled", schemaPath: "#/properties/disabled/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.kind !== undefined) {
let data2 = data.kind;
const _errs6 = errors;
if (typeof data2 !== "string") {
validate22.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data2 === "model" || data2 === "tool")) {
validate22.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/enum", keyword: "enum", params: { allowedValues: schema35.properties.kind.enum } }];
return false;
}
var valid0 = _errs6 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.modality !== undefined) {
let data3 = data.modality;
const _errs8 = errors;
if (typeof data3 !== "string") {
validate22.errors = [{ instancePath: instancePath + "/modality", schemaPath: "Modality/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data3 === "text" || data3 === "image" || data3 === "audio" || data3 === "stt" || data3 === "video" || data3 === "music" || data3 === "embedding" || data3 === "upscale" || data3 === "vision" || data3 === "object_3d")) {
validate22.errors = [{ instancePath: instancePath + "/modality", schemaPath: "Modality/enum", keyword: "enum", params: { allowedValues: schema36.enum } }];
return false;
}
var valid0 = _errs8 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.owned_by !== undefined) {
let data4 = data.owned_by;
const _errs11 = errors;
if (errors === _errs11) {
if (typeof data4 === "string") {
if (func2(data4) > 100) {
validate22.errors = [{ instancePath: instancePath + "/owned_by", schemaPath: "#/properties/owned_by/maxLength", keyword: "maxLength", params: { limit: 100 } }];
return false;
} else {
if (func2(data4) < 1) {
validate22.errors = [{ instancePath: instancePath + "/owned_by", schemaPath: "#/properties/owned_by/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/owned_by", schemaPath: "#/properties/owned_by/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs11 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.created !== undefined) {
let data5 = data.created;
const _errs13 = errors;
if (!(typeof data5 == "number" && (!(data5 % 1) && !isNaN(data5)) && isFinite(data5))) {
validate22.errors = [{ instancePath: instancePath + "/created", schemaPath: "#/properties/created/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs13) {
if (typeof data5 == "number" && isFinite(data5)) {
if (data5 < 0 || isNaN(data5)) {
validate22.errors = [{ instancePath: instancePath + "/created", schemaPath: "#/properties/created/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs13 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.supports_chat !== undefined) {
const _errs15 = errors;
if (typeof data.supports_chat !== "boolean") {
validate22.errors = [{ instancePath: instancePath + "/supports_chat", schemaPath: "#/properties/supports_chat/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs15 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.supports_embeddings !== undefined) {
const _errs17 = errors;
if (typeof data.supports_embeddings !== "boolean") {
validate22.errors = [{ instancePath: instancePath + "/supports_embeddings", schemaPath: "#/properties/supports_embeddings/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs17 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.supports_streaming !== undefined) {
const _errs19 = errors;
if (typeof data.supports_streaming !== "boolean") {
validate22.errors = [{ instancePath: instancePath + "/supports_streaming", schemaPath: "#/properties/supports_streaming/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs19 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.supports_tools !== undefined) {
const _errs21 = errors;
if (typeof data.supports_tools !== "boolean") {
validate22.errors = [{ instancePath: instancePath + "/supports_tools", schemaPath: "#/properties/supports_tools/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs21 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.supports_json !== undefined) {
const _errs23 = errors;
if (typeof data.supports_json !== "boolean") {
validate22.errors = [{ instancePath: instancePath + "/supports_json", schemaPath: "#/properties/supports_json/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs23 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.max_context_tokens !== undefined) {
let data11 = data.max_context_tokens;
const _errs25 = errors;
if (!(typeof data11 == "number" && (!(data11 % 1) && !isNaN(data11)) && isFinite(data11))) {
validate22.errors = [{ instancePath: instancePath + "/max_context_tokens", schemaPath: "#/properties/max_context_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs25) {
if (typeof data11 == "number" && isFinite(data11)) {
if (data11 > 1e8 || isNaN(data11)) {
validate22.errors = [{ instancePath: instancePath + "/max_context_tokens", schemaPath: "#/properties/max_context_tokens/maximum", keyword: "maximum", params: { comparison: "<=", limit: 1e8 } }];
return false;
} else {
if (data11 < 0 || isNaN(data11)) {
validate22.errors = [{ instancePath: instancePath + "/max_context_tokens", schemaPath: "#/properties/max_context_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
}
var valid0 = _errs25 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.max_output_tokens !== undefined) {
let data12 = data.max_output_tokens;
const _errs27 = errors;
if (!(typeof data12 == "number" && (!(data12 % 1) && !isNaN(data12)) && isFinite(data12))) {
validate22.errors = [{ instancePath: instancePath + "/max_output_tokens", schemaPath: "#/properties/max_output_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs27) {
if (typeof data12 == "number" && isFinite(data12)) {
if (data12 > 1e8 || isNaN(data12)) {
validate22.errors = [{ instancePath: instancePath + "/max_output_tokens", schemaPath: "#/properties/max_output_tokens/maximum", keyword: "maximum", params: { comparison: "<=", limit: 1e8 } }];
return false;
} else {
if (data12 < 0 || isNaN(data12)) {
validate22.errors = [{ instancePath: instancePath + "/max_output_tokens", schemaPath: "#/properties/max_output_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
}
var valid0 = _errs27 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.tokens_per_image_max !== undefined) {
let data13 = data.tokens_per_image_max;
const _errs29 = errors;
if (!(typeof data13 == "number" && (!(data13 % 1) && !isNaN(data13)) && isFinite(data13))) {
validate22.errors = [{ instancePath: instancePath + "/tokens_per_image_max", schemaPath: "#/properties/tokens_per_image_max/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs29) {
if (typeof data13 == "number" && isFinite(data13)) {
if (data13 > 1e6 || isNaN(data13)) {
validate22.errors = [{ instancePath: instancePath + "/tokens_per_image_max", schemaPath: "#/properties/tokens_per_image_max/maximum", keyword: "maximum", params: { comparison: "<=", limit: 1e6 } }];
return false;
} else {
if (data13 < 1 || isNaN(data13)) {
validate22.errors = [{ instancePath: instancePath + "/tokens_per_image_max", schemaPath: "#/properties/tokens_per_image_max/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid0 = _errs29 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.pricing !== undefined) {
const _errs31 = errors;
if (!validate23(data.pricing, { instancePath: instancePath + "/pricing", parentData: data, parentDataProperty: "pricing", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate23.errors : vErrors.concat(validate23.errors);
errors = vErrors.length;
}
var valid0 = _errs31 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.price_source !== undefined) {
let data15 = data.price_source;
const _errs32 = errors;
const _errs33 = errors;
if (errors === _errs33) {
if (data15 && typeof data15 == "object" && !Array.isArray(data15)) {
let missing1;
if (data15.source === undefined && (missing1 = "source") || data15.date === undefined && (missing1 = "date")) {
validate22.errors = [{ instancePath: instancePath + "/price_source", schemaPath: "PriceSource/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
const _errs35 = errors;
for (const key1 in data15) {
if (!(key1 === "source" || key1 === "date")) {
validate22.errors = [{ instancePath: instancePath + "/price_source", schemaPath: "PriceSource/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key1 } }];
return false;
break;
}
}
if (_errs35 === errors) {
if (data15.source !== undefined) {
let data16 = data15.source;
const _errs36 = errors;
if (errors === _errs36) {
if (typeof data16 === "string") {
if (func2(data16) > 300) {
validate22.errors = [{ instancePath: instancePath + "/price_source/source", schemaPath: "PriceSource/properties/source/maxLength", keyword: "maxLength", params: { limit: 300 } }];
return false;
} else {
if (func2(data16) < 1) {
validate22.errors = [{ instancePath: instancePath + "/price_source/source", schemaPath: "PriceSource/properties/source/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/price_source/source", schemaPath: "PriceSource/properties/source/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid3 = _errs36 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data15.date !== undefined) {
let data17 = data15.date;
const _errs38 = errors;
if (errors === _errs38) {
if (errors === _errs38) {
if (typeof data17 === "string") {
if (!formats0.validate(data17)) {
validate22.errors = [{ instancePath: instancePath + "/price_source/date", schemaPath: "PriceSource/properties/date/format", keyword: "format", params: { format: "date" } }];
return false;
}
} else {
validate22.errors = [{ instancePath: instancePath + "/price_source/date", schemaPath: "PriceSource/properties/date/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid3 = _errs38 === errors;
} else {
var valid3 = true;
}
}
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/price_source", schemaPath: "PriceSource/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs32 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.allowed_params !== undefined) {
let data18 = data.allowed_params;
const _errs40 = errors;
const _errs41 = errors;
if (errors === _errs41) {
if (data18 && typeof data18 == "object" && !Array.isArray(data18)) {
const _errs43 = errors;
for (const key2 in data18) {
if (!func1.call(schema31.properties, key2)) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params", schemaPath: "AllowedParams/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key2 } }];
return false;
break;
}
}
if (_errs43 === errors) {
if (data18.max_n !== undefined) {
let data19 = data18.max_n;
const _errs44 = errors;
if (!(typeof data19 == "number" && (!(data19 % 1) && !isNaN(data19)) && isFinite(data19))) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/max_n", schemaPath: "AllowedParams/properties/max_n/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs44) {
if (typeof data19 == "number" && isFinite(data19)) {
if (data19 < 1 || isNaN(data19)) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/max_n", schemaPath: "AllowedParams/properties/max_n/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
var valid5 = _errs44 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.aspect_ratios !== undefined) {
let data20 = data18.aspect_ratios;
const _errs46 = errors;
if (errors === _errs46) {
if (Array.isArray(data20)) {
var valid6 = true;
const len0 = data20.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs48 = errors;
if (typeof data20[i0] !== "string") {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/aspect_ratios/" + i0, schemaPath: "AllowedParams/properties/aspect_ratios/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid6 = _errs48 === errors;
if (!valid6) {
break;
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/aspect_ratios", schemaPath: "AllowedParams/properties/aspect_ratios/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid5 = _errs46 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.image_sizes !== undefined) {
let data22 = data18.image_sizes;
const _errs50 = errors;
if (errors === _errs50) {
if (Array.isArray(data22)) {
var valid7 = true;
const len1 = data22.length;
for (let i1 = 0;i1 < len1; i1++) {
const _errs52 = errors;
if (typeof data22[i1] !== "string") {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/image_sizes/" + i1, schemaPath: "AllowedParams/properties/image_sizes/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid7 = _errs52 === errors;
if (!valid7) {
break;
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/image_sizes", schemaPath: "AllowedParams/properties/image_sizes/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid5 = _errs50 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.sizes !== undefined) {
let data24 = data18.sizes;
const _errs54 = errors;
if (errors === _errs54) {
if (Array.isArray(data24)) {
var valid8 = true;
const len2 = data24.length;
for (let i2 = 0;i2 < len2; i2++) {
const _errs56 = errors;
if (typeof data24[i2] !== "string") {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/sizes/" + i2, schemaPath: "AllowedParams/properties/sizes/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid8 = _errs56 === errors;
if (!valid8) {
break;
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/sizes", schemaPath: "AllowedParams/properties/sizes/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid5 = _errs54 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.resolutions !== undefined) {
let data26 = data18.resolutions;
const _errs58 = errors;
if (errors === _errs58) {
if (Array.isArray(data26)) {
var valid9 = true;
const len3 = data26.length;
for (let i3 = 0;i3 < len3; i3++) {
const _errs60 = errors;
if (typeof data26[i3] !== "string") {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/resolutions/" + i3, schemaPath: "AllowedParams/properties/resolutions/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid9 = _errs60 === errors;
if (!valid9) {
break;
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/resolutions", schemaPath: "AllowedParams/properties/resolutions/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid5 = _errs58 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.qualities !== undefined) {
let data28 = data18.qualities;
const _errs62 = errors;
if (errors === _errs62) {
if (Array.isArray(data28)) {
var valid10 = true;
const len4 = data28.length;
for (let i4 = 0;i4 < len4; i4++) {
const _errs64 = errors;
if (typeof data28[i4] !== "string") {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/qualities/" + i4, schemaPath: "AllowedParams/properties/qualities/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid10 = _errs64 === errors;
if (!valid10) {
break;
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/qualities", schemaPath: "AllowedParams/properties/qualities/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid5 = _errs62 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.styles !== undefined) {
let data30 = data18.styles;
const _errs66 = errors;
if (errors === _errs66) {
if (Array.isArray(data30)) {
var valid11 = true;
const len5 = data30.length;
for (let i5 = 0;i5 < len5; i5++) {
const _errs68 = errors;
if (typeof data30[i5] !== "string") {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/styles/" + i5, schemaPath: "AllowedParams/properties/styles/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid11 = _errs68 === errors;
if (!valid11) {
break;
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/styles", schemaPath: "AllowedParams/properties/styles/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid5 = _errs66 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.background !== undefined) {
let data32 = data18.background;
const _errs70 = errors;
if (errors === _errs70) {
if (Array.isArray(data32)) {
var valid12 = true;
const len6 = data32.length;
for (let i6 = 0;i6 < len6; i6++) {
const _errs72 = errors;
if (typeof data32[i6] !== "string") {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/background/" + i6, schemaPath: "AllowedParams/properties/background/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid12 = _errs72 === errors;
if (!valid12) {
break;
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/background", schemaPath: "AllowedParams/properties/background/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid5 = _errs70 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.output_formats !== undefined) {
let data34 = data18.output_formats;
const _errs74 = errors;
if (errors === _errs74) {
if (Array.isArray(data34)) {
var valid13 = true;
const len7 = data34.length;
for (let i7 = 0;i7 < len7; i7++) {
const _errs76 = errors;
if (typeof data34[i7] !== "string") {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/output_formats/" + i7, schemaPath: "AllowedParams/properties/output_formats/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid13 = _errs76 === errors;
if (!valid13) {
break;
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/output_formats", schemaPath: "AllowedParams/properties/output_formats/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid5 = _errs74 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.response_formats !== undefined) {
let data36 = data18.response_formats;
const _errs78 = errors;
if (errors === _errs78) {
if (Array.isArray(data36)) {
var valid14 = true;
const len8 = data36.length;
for (let i8 = 0;i8 < len8; i8++) {
const _errs80 = errors;
if (typeof data36[i8] !== "string") {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/response_formats/" + i8, schemaPath: "AllowedParams/properties/response_formats/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid14 = _errs80 === errors;
if (!valid14) {
break;
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/response_formats", schemaPath: "AllowedParams/properties/response_formats/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid5 = _errs78 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.person_generation !== undefined) {
let data38 = data18.person_generation;
const _errs82 = errors;
if (errors === _errs82) {
if (Array.isArray(data38)) {
var valid15 = true;
const len9 = data38.length;
for (let i9 = 0;i9 < len9; i9++) {
const _errs84 = errors;
if (typeof data38[i9] !== "string") {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/person_generation/" + i9, schemaPath: "AllowedParams/properties/person_generation/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid15 = _errs84 === errors;
if (!valid15) {
break;
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/person_generation", schemaPath: "AllowedParams/properties/person_generation/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid5 = _errs82 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.voices !== undefined) {
let data40 = data18.voices;
const _errs86 = errors;
if (errors === _errs86) {
if (Array.isArray(data40)) {
var valid16 = true;
const len10 = data40.length;
for (let i10 = 0;i10 < len10; i10++) {
const _errs88 = errors;
if (typeof data40[i10] !== "string") {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/voices/" + i10, schemaPath: "AllowedParams/properties/voices/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid16 = _errs88 === errors;
if (!valid16) {
break;
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/voices", schemaPath: "AllowedParams/properties/voices/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid5 = _errs86 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.supported_inputs !== undefined) {
let data42 = data18.supported_inputs;
const _errs90 = errors;
if (errors === _errs90) {
if (Array.isArray(data42)) {
var valid17 = true;
const len11 = data42.length;
for (let i11 = 0;i11 < len11; i11++) {
const _errs92 = errors;
if (typeof data42[i11] !== "string") {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/supported_inputs/" + i11, schemaPath: "AllowedParams/properties/supported_inputs/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid17 = _errs92 === errors;
if (!valid17) {
break;
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/supported_inputs", schemaPath: "AllowedParams/properties/supported_inputs/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid5 = _errs90 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.accepts_voice_instructions !== undefined) {
const _errs94 = errors;
if (typeof data18.accepts_voice_instructions !== "boolean") {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/accepts_voice_instructions", schemaPath: "AllowedParams/properties/accepts_voice_instructions/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid5 = _errs94 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.requires_voice_instructions !== undefined) {
const _errs96 = errors;
if (typeof data18.requires_voice_instructions !== "boolean") {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/requires_voice_instructions", schemaPath: "AllowedParams/properties/requires_voice_instructions/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid5 = _errs96 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.durations !== undefined) {
let data46 = data18.durations;
const _errs98 = errors;
if (errors === _errs98) {
if (Array.isArray(data46)) {
var valid18 = true;
const len12 = data46.length;
for (let i12 = 0;i12 < len12; i12++) {
let data47 = data46[i12];
const _errs100 = errors;
if (!(typeof data47 == "number" && (!(data47 % 1) && !isNaN(data47)) && isFinite(data47))) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/durations/" + i12, schemaPath: "AllowedParams/properties/durations/items/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs100) {
if (typeof data47 == "number" && isFinite(data47)) {
if (data47 < 0 || isNaN(data47)) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/durations/" + i12, schemaPath: "AllowedParams/properties/durations/items/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid18 = _errs100 === errors;
if (!valid18) {
break;
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/durations", schemaPath: "AllowedParams/properties/durations/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid5 = _errs98 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.default_duration !== undefined) {
let data48 = data18.default_duration;
const _errs102 = errors;
if (!(typeof data48 == "number" && (!(data48 % 1) && !isNaN(data48)) && isFinite(data48))) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/default_duration", schemaPath: "AllowedParams/properties/default_duration/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs102) {
if (typeof data48 == "number" && isFinite(data48)) {
if (data48 < 0 || isNaN(data48)) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/default_duration", schemaPath: "AllowedParams/properties/default_duration/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid5 = _errs102 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.max_duration_seconds !== undefined) {
let data49 = data18.max_duration_seconds;
const _errs104 = errors;
if (!(typeof data49 == "number" && (!(data49 % 1) && !isNaN(data49)) && isFinite(data49))) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/max_duration_seconds", schemaPath: "AllowedParams/properties/max_duration_seconds/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs104) {
if (typeof data49 == "number" && isFinite(data49)) {
if (data49 < 0 || isNaN(data49)) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/max_duration_seconds", schemaPath: "AllowedParams/properties/max_duration_seconds/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid5 = _errs104 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.default_params !== undefined) {
let data50 = data18.default_params;
const _errs106 = errors;
if (!(data50 && typeof data50 == "object" && !Array.isArray(data50))) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/default_params", schemaPath: "AllowedParams/properties/default_params/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid5 = _errs106 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.strength !== undefined) {
let data51 = data18.strength;
const _errs108 = errors;
if (errors === _errs108) {
if (data51 && typeof data51 == "object" && !Array.isArray(data51)) {
let missing2;
if (data51.min === undefined && (missing2 = "min") || data51.max === undefined && (missing2 = "max") || data51.required === undefined && (missing2 = "required")) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/strength", schemaPath: "AllowedParams/properties/strength/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
const _errs110 = errors;
for (const key3 in data51) {
if (!(key3 === "min" || key3 === "max" || key3 === "required")) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/strength", schemaPath: "AllowedParams/properties/strength/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key3 } }];
return false;
break;
}
}
if (_errs110 === errors) {
if (data51.min !== undefined) {
let data52 = data51.min;
const _errs111 = errors;
if (!(typeof data52 == "number" && isFinite(data52))) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/strength/min", schemaPath: "AllowedParams/properties/strength/properties/min/type", keyword: "type", params: { type: "number" } }];
return false;
}
var valid19 = _errs111 === errors;
} else {
var valid19 = true;
}
if (valid19) {
if (data51.max !== undefined) {
let data53 = data51.max;
const _errs113 = errors;
if (!(typeof data53 == "number" && isFinite(data53))) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/strength/max", schemaPath: "AllowedParams/properties/strength/properties/max/type", keyword: "type", params: { type: "number" } }];
return false;
}
var valid19 = _errs113 === errors;
} else {
var valid19 = true;
}
if (valid19) {
if (data51.required !== undefined) {
const _errs115 = errors;
if (typeof data51.required !== "boolean") {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/strength/required", schemaPath: "AllowedParams/properties/strength/properties/required/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid19 = _errs115 === errors;
} else {
var valid19 = true;
}
}
}
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/strength", schemaPath: "AllowedParams/properties/strength/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid5 = _errs108 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.requires_input_image !== undefined) {
const _errs117 = errors;
if (typeof data18.requires_input_image !== "boolean") {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/requires_input_image", schemaPath: "AllowedParams/properties/requires_input_image/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid5 = _errs117 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.requires_input_video !== undefined) {
const _errs119 = errors;
if (typeof data18.requires_input_video !== "boolean") {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/requires_input_video", schemaPath: "AllowedParams/properties/requires_input_video/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid5 = _errs119 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.requires_input_audio !== undefined) {
const _errs121 = errors;
if (typeof data18.requires_input_audio !== "boolean") {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/requires_input_audio", schemaPath: "AllowedParams/properties/requires_input_audio/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid5 = _errs121 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.requires_input_3d !== undefined) {
const _errs123 = errors;
if (typeof data18.requires_input_3d !== "boolean") {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/requires_input_3d", schemaPath: "AllowedParams/properties/requires_input_3d/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid5 = _errs123 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.accepts_input_image !== undefined) {
const _errs125 = errors;
if (typeof data18.accepts_input_image !== "boolean") {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/accepts_input_image", schemaPath: "AllowedParams/properties/accepts_input_image/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid5 = _errs125 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.accepts_input_video !== undefined) {
const _errs127 = errors;
if (typeof data18.accepts_input_video !== "boolean") {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/accepts_input_video", schemaPath: "AllowedParams/properties/accepts_input_video/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid5 = _errs127 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.max_file_size_bytes !== undefined) {
let data61 = data18.max_file_size_bytes;
const _errs129 = errors;
if (!(typeof data61 == "number" && (!(data61 % 1) && !isNaN(data61)) && isFinite(data61))) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/max_file_size_bytes", schemaPath: "AllowedParams/properties/max_file_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs129) {
if (typeof data61 == "number" && isFinite(data61)) {
if (data61 < 0 || isNaN(data61)) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/max_file_size_bytes", schemaPath: "AllowedParams/properties/max_file_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid5 = _errs129 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.max_image_size_bytes !== undefined) {
let data62 = data18.max_image_size_bytes;
const _errs131 = errors;
if (!(typeof data62 == "number" && (!(data62 % 1) && !isNaN(data62)) && isFinite(data62))) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/max_image_size_bytes", schemaPath: "AllowedParams/properties/max_image_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs131) {
if (typeof data62 == "number" && isFinite(data62)) {
if (data62 < 0 || isNaN(data62)) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/max_image_size_bytes", schemaPath: "AllowedParams/properties/max_image_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid5 = _errs131 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.max_pdf_size_bytes !== undefined) {
let data63 = data18.max_pdf_size_bytes;
const _errs133 = errors;
if (!(typeof data63 == "number" && (!(data63 % 1) && !isNaN(data63)) && isFinite(data63))) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/max_pdf_size_bytes", schemaPath: "AllowedParams/properties/max_pdf_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs133) {
if (typeof data63 == "number" && isFinite(data63)) {
if (data63 < 0 || isNaN(data63)) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/max_pdf_size_bytes", schemaPath: "AllowedParams/properties/max_pdf_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid5 = _errs133 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.max_pdf_pages !== undefined) {
let data64 = data18.max_pdf_pages;
const _errs135 = errors;
if (!(typeof data64 == "number" && (!(data64 % 1) && !isNaN(data64)) && isFinite(data64))) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/max_pdf_pages", schemaPath: "AllowedParams/properties/max_pdf_pages/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs135) {
if (typeof data64 == "number" && isFinite(data64)) {
if (data64 < 0 || isNaN(data64)) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/max_pdf_pages", schemaPath: "AllowedParams/properties/max_pdf_pages/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid5 = _errs135 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.max_audio_size_bytes !== undefined) {
let data65 = data18.max_audio_size_bytes;
const _errs137 = errors;
if (!(typeof data65 == "number" && (!(data65 % 1) && !isNaN(data65)) && isFinite(data65))) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/max_audio_size_bytes", schemaPath: "AllowedParams/properties/max_audio_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs137) {
if (typeof data65 == "number" && isFinite(data65)) {
if (data65 < 0 || isNaN(data65)) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/max_audio_size_bytes", schemaPath: "AllowedParams/properties/max_audio_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid5 = _errs137 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.max_audio_duration_seconds !== undefined) {
let data66 = data18.max_audio_duration_seconds;
const _errs139 = errors;
if (!(typeof data66 == "number" && (!(data66 % 1) && !isNaN(data66)) && isFinite(data66))) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/max_audio_duration_seconds", schemaPath: "AllowedParams/properties/max_audio_duration_seconds/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs139) {
if (typeof data66 == "number" && isFinite(data66)) {
if (data66 < 0 || isNaN(data66)) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/max_audio_duration_seconds", schemaPath: "AllowedParams/properties/max_audio_duration_seconds/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid5 = _errs139 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data18.max_files !== undefined) {
let data67 = data18.max_files;
const _errs141 = errors;
if (!(typeof data67 == "number" && (!(data67 % 1) && !isNaN(data67)) && isFinite(data67))) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/max_files", schemaPath: "AllowedParams/properties/max_files/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs141) {
if (typeof data67 == "number" && isFinite(data67)) {
if (data67 < 0 || isNaN(data67)) {
validate22.errors = [{ instancePath: instancePath + "/allowed_params/max_files", schemaPath: "AllowedParams/properties/max_files/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid5 = _errs141 === errors;
} else {
var valid5 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/allowed_params", schemaPath: "AllowedParams/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs40 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.sources !== undefined) {
let data68 = data.sources;
const _errs143 = errors;
if (errors === _errs143) {
if (Array.isArray(data68)) {
if (data68.length < 1) {
validate22.errors = [{ instancePath: instancePath + "/sources", schemaPath: "#/properties/sources/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid20 = true;
const len13 = data68.length;
for (let i13 = 0;i13 < len13; i13++) {
let data69 = data68[i13];
const _errs145 = errors;
const _errs146 = errors;
if (errors === _errs146) {
if (data69 && typeof data69 == "object" && !Array.isArray(data69)) {
let missing3;
if (data69.provider === undefined && (missing3 = "provider") || data69.model === undefined && (missing3 = "model")) {
validate22.errors = [{ instancePath: instancePath + "/sources/" + i13, schemaPath: "SourceEntry/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
const _errs148 = errors;
for (const key4 in data69) {
if (!(key4 === "provider" || key4 === "model" || key4 === "drop_params" || key4 === "rename_params" || key4 === "overrides")) {
validate22.errors = [{ instancePath: instancePath + "/sources/" + i13, schemaPath: "SourceEntry/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key4 } }];
return false;
break;
}
}
if (_errs148 === errors) {
if (data69.provider !== undefined) {
let data70 = data69.provider;
const _errs149 = errors;
if (errors === _errs149) {
if (typeof data70 === "string") {
if (func2(data70) > 64) {
validate22.errors = [{ instancePath: instancePath + "/sources/" + i13 + "/provider", schemaPath: "SourceEntry/properties/provider/maxLength", keyword: "maxLength", params: { limit: 64 } }];
return false;
} else {
if (func2(data70) < 1) {
validate22.errors = [{ instancePath: instancePath + "/sources/" + i13 + "/provider", schemaPath: "SourceEntry/properties/provider/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/sources/" + i13 + "/provider", schemaPath: "SourceEntry/properties/provider/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid22 = _errs149 === errors;
} else {
var valid22 = true;
}
if (valid22) {
if (data69.model !== undefined) {
let data71 = data69.model;
const _errs151 = errors;
if (errors === _errs151) {
if (typeof data71 === "string") {
if (func2(data71) > 300) {
validate22.errors = [{ instancePath: instancePath + "/sources/" + i13 + "/model", schemaPath: "SourceEntry/properties/model/maxLength", keyword: "maxLength", params: { limit: 300 } }];
return false;
} else {
if (func2(data71) < 1) {
validate22.errors = [{ instancePath: instancePath + "/sources/" + i13 + "/model", schemaPath: "SourceEntry/properties/model/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/sources/" + i13 + "/model", schemaPath: "SourceEntry/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid22 = _errs151 === errors;
} else {
var valid22 = true;
}
if (valid22) {
if (data69.drop_params !== undefined) {
let data72 = data69.drop_params;
const _errs153 = errors;
if (errors === _errs153) {
if (Array.isArray(data72)) {
var valid23 = true;
const len14 = data72.length;
for (let i14 = 0;i14 < len14; i14++) {
let data73 = data72[i14];
const _errs155 = errors;
if (errors === _errs155) {
if (typeof data73 === "string") {
if (func2(data73) < 1) {
validate22.errors = [{ instancePath: instancePath + "/sources/" + i13 + "/drop_params/" + i14, schemaPath: "SourceEntry/properties/drop_params/items/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate22.errors = [{ instancePath: instancePath + "/sources/" + i13 + "/drop_params/" + i14, schemaPath: "SourceEntry/properties/drop_params/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid23 = _errs155 === errors;
if (!valid23) {
break;
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/sources/" + i13 + "/drop_params", schemaPath: "SourceEntry/properties/drop_params/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid22 = _errs153 === errors;
} else {
var valid22 = true;
}
if (valid22) {
if (data69.rename_params !== undefined) {
let data74 = data69.rename_params;
const _errs157 = errors;
if (errors === _errs157) {
if (data74 && typeof data74 == "object" && !Array.isArray(data74)) {
for (const key5 in data74) {
let data75 = data74[key5];
const _errs160 = errors;
if (errors === _errs160) {
if (typeof data75 === "string") {
if (func2(data75) < 1) {
validate22.errors = [{ instancePath: instancePath + "/sources/" + i13 + "/rename_params/" + key5.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "SourceEntry/properties/rename_params/additionalProperties/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate22.errors = [{ instancePath: instancePath + "/sources/" + i13 + "/rename_params/" + key5.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "SourceEntry/properties/rename_params/additionalProperties/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid24 = _errs160 === errors;
if (!valid24) {
break;
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/sources/" + i13 + "/rename_params", schemaPath: "SourceEntry/properties/rename_params/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid22 = _errs157 === errors;
} else {
var valid22 = true;
}
if (valid22) {
if (data69.overrides !== undefined) {
let data76 = data69.overrides;
const _errs162 = errors;
if (!(data76 && typeof data76 == "object" && !Array.isArray(data76))) {
validate22.errors = [{ instancePath: instancePath + "/sources/" + i13 + "/overrides", schemaPath: "SourceEntry/properties/overrides/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid22 = _errs162 === errors;
} else {
var valid22 = true;
}
}
}
}
}
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/sources/" + i13, schemaPath: "SourceEntry/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid20 = _errs145 === errors;
if (!valid20) {
break;
}
}
}
} else {
validate22.errors = [{ instancePath: instancePath + "/sources", schemaPath: "#/properties/sources/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs143 === errors;
} else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
} else {
validate22.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate22.errors = vErrors;
return errors === 0;
}
validate22.evaluated = { props: true, dynamicProps: false, dynamicItems: false };
function validate21(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate21.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
const _errs1 = errors;
for (const key0 in data) {
if (!(key0 === "providers" || key0 === "presets" || key0 === "models")) {
validate21.errors = [{ instancePath, schemaPath: "#/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } }];
return false;
break;
}
}
if (_errs1 === errors) {
if (data.providers !== undefined) {
let data0 = data.providers;
const _errs2 = errors;
if (errors === _errs2) {
if (Array.isArray(data0)) {
var valid1 = true;
const len0 = data0.length;
for (let i0 = 0;i0 < len0; i0++) {
let data1 = data0[i0];
const _errs4 = errors;
const _errs5 = errors;
if (errors === _errs5) {
if (data1 && typeof data1 == "object" && !Array.isArray(data1)) {
let missing0;
if (data1.id === undefined && (missing0 = "id")) {
validate21.errors = [{ instancePath: instancePath + "/providers/" + i0, schemaPath: "ProviderEntry/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
const _errs7 = errors;
for (const key1 in data1) {
if (!(key1 === "id" || key1 === "disabled" || key1 === "family" || key1 === "base_url" || key1 === "api_key_env")) {
validate21.errors = [{ instancePath: instancePath + "/providers/" + i0, schemaPath: "ProviderEntry/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key1 } }];
return false;
break;
}
}
if (_errs7 === errors) {
if (data1.id !== undefined) {
let data2 = data1.id;
const _errs8 = errors;
if (errors === _errs8) {
if (typeof data2 === "string") {
if (!pattern4.test(data2)) {
validate21.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/id", schemaPath: "ProviderEntry/properties/id/pattern", keyword: "pattern", params: { pattern: "^[a-z0-9][a-z0-9-]{0,63}$" } }];
return false;
}
} else {
validate21.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/id", schemaPath: "ProviderEntry/properties/id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid3 = _errs8 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data1.disabled !== undefined) {
const _errs10 = errors;
if (typeof data1.disabled !== "boolean") {
validate21.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/disabled", schemaPath: "ProviderEntry/properties/disabled/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid3 = _errs10 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data1.family !== undefined) {
let data4 = data1.family;
const _errs12 = errors;
if (typeof data4 !== "string") {
validate21.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/family", schemaPath: "ProviderEntry/properties/family/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data4 === "sandbox" || data4 === "openai-compatible")) {
validate21.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/family", schemaPath: "ProviderEntry/properties/family/enum", keyword: "enum", params: { allowedValues: schema33.properties.family.enum } }];
return false;
}
var valid3 = _errs12 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data1.base_url !== undefined) {
let data5 = data1.base_url;
const _errs14 = errors;
if (errors === _errs14) {
if (typeof data5 === "string") {
if (func2(data5) > 2000) {
validate21.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/base_url", schemaPath: "ProviderEntry/properties/base_url/maxLength", keyword: "maxLength", params: { limit: 2000 } }];
return false;
} else {
if (func2(data5) < 1) {
validate21.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/base_url", schemaPath: "ProviderEntry/properties/base_url/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate21.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/base_url", schemaPath: "ProviderEntry/properties/base_url/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid3 = _errs14 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data1.api_key_env !== undefined) {
let data6 = data1.api_key_env;
const _errs16 = errors;
if (errors === _errs16) {
if (typeof data6 === "string") {
if (!pattern5.test(data6)) {
validate21.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/api_key_env", schemaPath: "ProviderEntry/properties/api_key_env/pattern", keyword: "pattern", params: { pattern: "^[A-Z][A-Z0-9_]*_API_KEY$" } }];
return false;
}
} else {
validate21.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/api_key_env", schemaPath: "ProviderEntry/properties/api_key_env/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid3 = _errs16 === errors;
} else {
var valid3 = true;
}
}
}
}
}
}
}
} else {
validate21.errors = [{ instancePath: instancePath + "/providers/" + i0, schemaPath: "ProviderEntry/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid1 = _errs4 === errors;
if (!valid1) {
break;
}
}
} else {
validate21.errors = [{ instancePath: instancePath + "/providers", schemaPath: "#/properties/providers/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.presets !== undefined) {
let data7 = data.presets;
const _errs18 = errors;
if (errors === _errs18) {
if (Array.isArray(data7)) {
var valid4 = true;
const len1 = data7.length;
for (let i1 = 0;i1 < len1; i1++) {
let data8 = data7[i1];
const _errs20 = errors;
const _errs21 = errors;
if (errors === _errs21) {
if (data8 && typeof data8 == "object" && !Array.isArray(data8)) {
let missing1;
if (data8.name === undefined && (missing1 = "name")) {
validate21.errors = [{ instancePath: instancePath + "/presets/" + i1, schemaPath: "PresetEntry/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
const _errs23 = errors;
for (const key2 in data8) {
if (!(key2 === "name" || key2 === "disabled" || key2 === "requests_per_minute" || key2 === "daily_tokens")) {
validate21.errors = [{ instancePath: instancePath + "/presets/" + i1, schemaPath: "PresetEntry/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key2 } }];
return false;
break;
}
}
if (_errs23 === errors) {
if (data8.name !== undefined) {
let data9 = data8.name;
const _errs24 = errors;
if (errors === _errs24) {
if (typeof data9 === "string") {
if (!pattern6.test(data9)) {
validate21.errors = [{ instancePath: instancePath + "/presets/" + i1 + "/name", schemaPath: "PresetEntry/properties/name/pattern", keyword: "pattern", params: { pattern: "^[a-z0-9][a-z0-9_-]{0,63}$" } }];
return false;
}
} else {
validate21.errors = [{ instancePath: instancePath + "/presets/" + i1 + "/name", schemaPath: "PresetEntry/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid6 = _errs24 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data8.disabled !== undefined) {
const _errs26 = errors;
if (typeof data8.disabled !== "boolean") {
validate21.errors = [{ instancePath: instancePath + "/presets/" + i1 + "/disabled", schemaPath: "PresetEntry/properties/disabled/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid6 = _errs26 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data8.requests_per_minute !== undefined) {
let data11 = data8.requests_per_minute;
const _errs28 = errors;
if (!(typeof data11 == "number" && (!(data11 % 1) && !isNaN(data11)) && isFinite(data11)) && data11 !== null) {
validate21.errors = [{ instancePath: instancePath + "/presets/" + i1 + "/requests_per_minute", schemaPath: "PresetEntry/properties/requests_per_minute/type", keyword: "type", params: { type: schema34.properties.requests_per_minute.type } }];
return false;
}
if (errors === _errs28) {
if (typeof data11 == "number" && isFinite(data11)) {
if (data11 > 4095 || isNaN(data11)) {
validate21.errors = [{ instancePath: instancePath + "/presets/" + i1 + "/requests_per_minute", schemaPath: "PresetEntry/properties/requests_per_minute/maximum", keyword: "maximum", params: { comparison: "<=", limit: 4095 } }];
return false;
} else {
if (data11 < 1 || isNaN(data11)) {
validate21.errors = [{ instancePath: instancePath + "/presets/" + i1 + "/requests_per_minute", schemaPath: "PresetEntry/properties/requests_per_minute/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid6 = _errs28 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data8.daily_tokens !== undefined) {
let data12 = data8.daily_tokens;
const _errs30 = errors;
if (!(typeof data12 == "number" && (!(data12 % 1) && !isNaN(data12)) && isFinite(data12)) && data12 !== null) {
validate21.errors = [{ instancePath: instancePath + "/presets/" + i1 + "/daily_tokens", schemaPath: "PresetEntry/properties/daily_tokens/type", keyword: "type", params: { type: schema34.properties.daily_tokens.type } }];
return false;
}
if (errors === _errs30) {
if (typeof data12 == "number" && isFinite(data12)) {
if (data12 > 9007199254740991 || isNaN(data12)) {
validate21.errors = [{ instancePath: instancePath + "/presets/" + i1 + "/daily_tokens", schemaPath: "PresetEntry/properties/daily_tokens/maximum", keyword: "maximum", params: { comparison: "<=", limit: 9007199254740991 } }];
return false;
} else {
if (data12 < 1 || isNaN(data12)) {
validate21.errors = [{ instancePath: instancePath + "/presets/" + i1 + "/daily_tokens", schemaPath: "PresetEntry/properties/daily_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid6 = _errs30 === errors;
} else {
var valid6 = true;
}
}
}
}
}
}
} else {
validate21.errors = [{ instancePath: instancePath + "/presets/" + i1, schemaPath: "PresetEntry/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid4 = _errs20 === errors;
if (!valid4) {
break;
}
}
} else {
validate21.errors = [{ instancePath: instancePath + "/presets", schemaPath: "#/properties/presets/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs18 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.models !== undefined) {
let data13 = data.models;
const _errs32 = errors;
if (errors === _errs32) {
if (Array.isArray(data13)) {
var valid7 = true;
const len2 = data13.length;
for (let i2 = 0;i2 < len2; i2++) {
const _errs34 = errors;
if (!validate22(data13[i2], { instancePath: instancePath + "/models/" + i2, parentData: data13, parentDataProperty: i2, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate22.errors : vErrors.concat(validate22.errors);
errors = vErrors.length;
}
var valid7 = _errs34 === errors;
if (!valid7) {
break;
}
}
} else {
validate21.errors = [{ instancePath: instancePath + "/models", schemaPath: "#/properties/models/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs32 === errors;
} else {
var valid0 = true;
}
}
}
}
} else {
validate21.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate21.errors = vErrors;
return errors === 0;
}
validate21.evaluated = { props: true, dynamicProps: false, dynamicItems: false };
var validateChatLogprobs = validate26;
var schema42 = { type: "object", properties: { content: { type: ["array", "null"], items: { $ref: "TokenLogprob" } }, refusal: { type: ["array", "null"], items: { $ref: "TokenLogprob" } } } };
var schema43 = { type: "object", required: ["token", "logprob"], properties: { token: { type: "string" }, logprob: { type: "number" }, bytes: { type: ["array", "null"], items: { type: "integer" } }, top_logprobs: { type: "array", items: { $ref: "TokenAlternative" } } } };
var schema44 = { type: "object", required: ["token", "logprob"], properties: { token: { type: "string" }, logprob: { type: "number" }, bytes: { type: ["array", "null"], items: { type: "integer" } } } };
function validate27(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate27.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.token === undefined && (missing0 = "token") || data.logprob === undefined && (missing0 = "logprob")) {
validate27.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.token !== undefined) {
const _errs1 = errors;
if (typeof data.token !== "string") {
validate27.errors = [{ instancePath: instancePath + "/token", schemaPath: "#/properties/token/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.logprob !== undefined) {
let data1 = data.logprob;
const _errs3 = errors;
if (!(typeof data1 == "number" && isFinite(data1))) {
validate27.errors = [{ instancePath: instancePath + "/logprob", schemaPath: "#/properties/logprob/type", keyword: "type", params: { type: "number" } }];
return false;
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.bytes !== undefined) {
let data2 = data.bytes;
const _errs5 = errors;
if (!Array.isArray(data2) && data2 !== null) {
validate27.errors = [{ instancePath: instancePath + "/bytes", schemaPath: "#/properties/bytes/type", keyword: "type", params: { type: schema43.properties.bytes.type } }];
return false;
}
if (errors === _errs5) {
if (Array.isArray(data2)) {
var valid1 = true;
const len0 = data2.length;
for (let i0 = 0;i0 < len0; i0++) {
let data3 = data2[i0];
const _errs7 = errors;
if (!(typeof data3 == "number" && (!(data3 % 1) && !isNaN(data3)) && isFinite(data3))) {
validate27.errors = [{ instancePath: instancePath + "/bytes/" + i0, schemaPath: "#/properties/bytes/items/type", keyword: "type", params: { type: "integer" } }];
return false;
}
var valid1 = _errs7 === errors;
if (!valid1) {
break;
}
}
}
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.top_logprobs !== undefined) {
let data4 = data.top_logprobs;
const _errs9 = errors;
if (errors === _errs9) {
if (Array.isArray(data4)) {
var valid2 = true;
const len1 = data4.length;
for (let i1 = 0;i1 < len1; i1++) {
let data5 = data4[i1];
const _errs11 = errors;
const _errs12 = errors;
if (errors === _errs12) {
if (data5 && typeof data5 == "object" && !Array.isArray(data5)) {
let missing1;
if (data5.token === undefined && (missing1 = "token") || data5.logprob === undefined && (missing1 = "logprob")) {
validate27.errors = [{ instancePath: instancePath + "/top_logprobs/" + i1, schemaPath: "TokenAlternative/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data5.token !== undefined) {
const _errs14 = errors;
if (typeof data5.token !== "string") {
validate27.errors = [{ instancePath: instancePath + "/top_logprobs/" + i1 + "/token", schemaPath: "TokenAlternative/properties/token/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid4 = _errs14 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data5.logprob !== undefined) {
let data7 = data5.logprob;
const _errs16 = errors;
if (!(typeof data7 == "number" && isFinite(data7))) {
validate27.errors = [{ instancePath: instancePath + "/top_logprobs/" + i1 + "/logprob", schemaPath: "TokenAlternative/properties/logprob/type", keyword: "type", params: { type: "number" } }];
return false;
}
var valid4 = _errs16 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data5.bytes !== undefined) {
let data8 = data5.bytes;
const _errs18 = errors;
if (!Array.isArray(data8) && data8 !== null) {
validate27.errors = [{ instancePath: instancePath + "/top_logprobs/" + i1 + "/bytes", schemaPath: "TokenAlternative/properties/bytes/type", keyword: "type", params: { type: schema44.properties.bytes.type } }];
return false;
}
if (errors === _errs18) {
if (Array.isArray(data8)) {
var valid5 = true;
const len2 = data8.length;
for (let i2 = 0;i2 < len2; i2++) {
let data9 = data8[i2];
const _errs20 = errors;
if (!(typeof data9 == "number" && (!(data9 % 1) && !isNaN(data9)) && isFinite(data9))) {
validate27.errors = [{ instancePath: instancePath + "/top_logprobs/" + i1 + "/bytes/" + i2, schemaPath: "TokenAlternative/properties/bytes/items/type", keyword: "type", params: { type: "integer" } }];
return false;
}
var valid5 = _errs20 === errors;
if (!valid5) {
break;
}
}
}
}
var valid4 = _errs18 === errors;
} else {
var valid4 = true;
}
}
}
}
} else {
validate27.errors = [{ instancePath: instancePath + "/top_logprobs/" + i1, schemaPath: "TokenAlternative/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid2 = _errs11 === errors;
if (!valid2) {
break;
}
}
} else {
validate27.errors = [{ instancePath: instancePath + "/top_logprobs", schemaPath: "#/properties/top_logprobs/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs9 === errors;
} else {
var valid0 = true;
}
}
}
}
}
} else {
validate27.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate27.errors = vErrors;
return errors === 0;
}
validate27.evaluated = { props: { token: true, logprob: true, bytes: true, top_logprobs: true }, dynamicProps: false, dynamicItems: false };
function validate26(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate26.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
if (data.content !== undefined) {
let data0 = data.content;
const _errs1 = errors;
if (!Array.isArray(data0) && data0 !== null) {
validate26.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: schema42.properties.content.type } }];
return false;
}
if (errors === _errs1) {
if (Array.isArray(data0)) {
var valid1 = true;
const len0 = data0.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs3 = errors;
if (!validate27(data0[i0], { instancePath: instancePath + "/content/" + i0, parentData: data0, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate27.errors : vErrors.concat(validate27.errors);
errors = vErrors.length;
}
var valid1 = _errs3 === errors;
if (!valid1) {
break;
}
}
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.refusal !== undefined) {
let data2 = data.refusal;
const _errs4 = errors;
if (!Array.isArray(data2) && data2 !== null) {
validate26.errors = [{ instancePath: instancePath + "/refusal", schemaPath: "#/properties/refusal/type", keyword: "type", params: { type: schema42.properties.refusal.type } }];
return false;
}
if (errors === _errs4) {
if (Array.isArray(data2)) {
var valid2 = true;
const len1 = data2.length;
for (let i1 = 0;i1 < len1; i1++) {
const _errs6 = errors;
if (!validate27(data2[i1], { instancePath: instancePath + "/refusal/" + i1, parentData: data2, parentDataProperty: i1, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate27.errors : vErrors.concat(validate27.errors);
errors = vErrors.length;
}
var valid2 = _errs6 === errors;
if (!valid2) {
break;
}
}
}
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
}
} else {
validate26.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate26.errors = vErrors;
return errors === 0;
}
validate26.evaluated = { props: { content: true, refusal: true }, dynamicProps: false, dynamicItems: false };
var validateChatMessage = validate30;
var schema45 = { type: "object", allOf: [{ type: "object", required: ["role"], properties: { role: { type: "string", enum: ["developer", "system", "user", "assistant", "tool", "function"] } } }, { type: "object", discriminator: { propertyName: "role" }, oneOf: [{ $ref: "DeveloperMessage" }, { $ref: "SystemMessage" }, { $ref: "UserMessage" }, { $ref: "AssistantMessage" }, { $ref: "ToolMessage" }, { $ref: "FunctionMessage" }] }] };
var schema64 = { type: "object", required: ["role", "content", "name"], properties: { role: { const: "function" }, content: { type: ["string", "null"] }, name: { type: "string" } } };
var schema46 = { type: "object", required: ["role", "content"], properties: { role: { const: "developer" }, content: { type: ["string", "array"], minItems: 1, items: { $ref: "TextOnlyBlock" } }, name: { type: "string" } } };
var schema47 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["text"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "TextBlock" }] }] };
function validate32(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate32.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate32.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate32.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate32.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "text")) {
validate32.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema47.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate32.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs1 === errors;
if (valid0) {
const _errs5 = errors;
if (errors === _errs5) {
if (data && typeof data == "object" && !Array.isArray(data)) {
const tag0 = data.type;
if (typeof tag0 == "string") {
if (tag0 === "text") {
const _errs9 = errors;
if (errors === _errs9) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing1;
if (data.type === undefined && (missing1 = "type") || data.text === undefined && (missing1 = "text")) {
validate32.errors = [{ instancePath, schemaPath: "TextBlock/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs11 = errors;
if (data.type !== "text") {
validate32.errors = [{ instancePath: instancePath + "/type", schemaPath: "TextBlock/properties/type/const", keyword: "const", params: { allowedValue: "text" } }];
return false;
}
var valid5 = _errs11 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data.text !== undefined) {
const _errs12 = errors;
if (typeof data.text !== "string") {
validate32.errors = [{ instancePath: instancePath + "/text", schemaPath: "TextBlock/properties/text/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid5 = _errs12 === errors;
} else {
var valid5 = true;
}
}
}
} else {
validate32.errors = [{ instancePath, schemaPath: "TextBlock/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var props0 = {};
props0.type = true;
props0.text = true;
} else {
validate32.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate32.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate32.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs5 === errors;
if (valid0) {
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
}
}
}
validate32.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate32.evaluated = { dynamicProps: true, dynamicItems: false };
function validate31(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate31.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.role === undefined && (missing0 = "role") || data.content === undefined && (missing0 = "content")) {
validate31.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.role !== undefined) {
const _errs1 = errors;
if (data.role !== "developer") {
validate31.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/properties/role/const", keyword: "const", params: { allowedValue: "developer" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.content !== undefined) {
let data1 = data.content;
const _errs2 = errors;
if (typeof data1 !== "string" && !Array.isArray(data1)) {
validate31.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: schema46.properties.content.type } }];
return false;
}
if (errors === _errs2) {
if (Array.isArray(data1)) {
if (data1.length < 1) {
validate31.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid1 = true;
const len0 = data1.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs4 = errors;
if (!validate32(data1[i0], { instancePath: instancePath + "/content/" + i0, parentData: data1, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate32.errors : vErrors.concat(validate32.errors);
errors = vErrors.length;
}
var valid1 = _errs4 === errors;
if (!valid1) {
break;
}
}
}
}
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.name !== undefined) {
const _errs5 = errors;
if (typeof data.name !== "string") {
validate31.errors = [{ instancePath: instancePath + "/name", schemaPath: "#/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
}
}
}
} else {
validate31.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate31.errors = vErrors;
return errors === 0;
}
validate31.evaluated = { props: { role: true, content: true, name: true }, dynamicProps: false, dynamicItems: false };
var schema49 = { type: "object", required: ["role", "content"], properties: { role: { const: "system" }, content: { type: ["string", "array"], minItems: 1, items: { $ref: "TextOnlyBlock" } }, name: { type: "string" } } };
function validate34(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate34.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.role === undefined && (missing0 = "role") || data.content === undefined && (missing0 = "content")) {
validate34.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.role !== undefined) {
const _errs1 = errors;
if (data.role !== "system") {
validate34.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/properties/role/const", keyword: "const", params: { allowedValue: "system" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.content !== undefined) {
let data1 = data.content;
const _errs2 = errors;
if (typeof data1 !== "string" && !Array.isArray(data1)) {
validate34.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: schema49.properties.content.type } }];
return false;
}
if (errors === _errs2) {
if (Array.isArray(data1)) {
if (data1.length < 1) {
validate34.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid1 = true;
const len0 = data1.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs4 = errors;
if (!validate32(data1[i0], { instancePath: instancePath + "/content/" + i0, parentData: data1, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate32.errors : vErrors.concat(validate32.errors);
errors = vErrors.length;
}
var valid1 = _errs4 === errors;
if (!valid1) {
break;
}
}
}
}
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.name !== undefined) {
const _errs5 = errors;
if (typeof data.name !== "string") {
validate34.errors = [{ instancePath: instancePath + "/name", schemaPath: "#/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
}
}
}
} else {
validate34.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate34.errors = vErrors;
return errors === 0;
}
validate34.evaluated = { props: { role: true, content: true, name: true }, dynamicProps: false, dynamicItems: false };
var schema50 = { type: "object", required: ["role", "content"], properties: { role: { const: "user" }, content: { type: ["string", "array"], minItems: 1, items: { $ref: "UserContentBlock" } }, name: { type: "string" } } };
var schema51 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["text", "image_url", "input_audio", "file"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "TextBlock" }, { $ref: "ImageBlock" }, { $ref: "AudioBlock" }, { $ref: "FileBlock" }] }] };
var schema53 = { type: "object", required: ["type", "image_url"], properties: { type: { const: "image_url" }, image_url: { type: "object", required: ["url"], properties: { url: { type: "string", pattern: "^([Hh][Tt][Tt][Pp][Ss]?://|[Dd][Aa][Tt][Aa]:)" }, detail: { enum: ["auto", "low", "high"] } } } } };
var schema54 = { type: "object", required: ["type", "input_audio"], properties: { type: { const: "input_audio" }, input_audio: { type: "object", required: ["data", "format"], properties: { data: { type: "string", minLength: 1 }, format: { enum: ["wav", "mp3"] } } } } };
var pattern8 = new RegExp("^([Hh][Tt][Tt][Pp][Ss]?://|[Dd][Aa][Tt][Aa]:)", "u");
function validate37(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate37.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate37.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate37.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate37.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "text" || data0 === "image_url" || data0 === "input_audio" || data0 === "file")) {
validate37.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema51.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate37.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs1 === errors;
if (valid0) {
const _errs5 = errors;
if (errors === _errs5) {
if (data && typeof data == "object" && !Array.isArray(data)) {
const tag0 = data.type;
if (typeof tag0 == "string") {
if (tag0 === "text") {
const _errs9 = errors;
if (errors === _errs9) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing1;
if (data.type === undefined && (missing1 = "type") || data.text === undefined && (missing1 = "text")) {
validate37.errors = [{ instancePath, schemaPath: "TextBlock/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs11 = errors;
if (data.type !== "text") {
validate37.errors = [{ instancePath: instancePath + "/type", schemaPath: "TextBlock/properties/type/const", keyword: "const", params: { allowedValue: "text" } }];
return false;
}
var valid5 = _errs11 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data.text !== undefined) {
const _errs12 = errors;
if (typeof data.text !== "string") {
validate37.errors = [{ instancePath: instancePath + "/text", schemaPath: "TextBlock/properties/text/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid5 = _errs12 === errors;
} else {
var valid5 = true;
}
}
}
} else {
validate37.errors = [{ instancePath, schemaPath: "TextBlock/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var props0 = {};
props0.type = true;
props0.text = true;
} else if (tag0 === "image_url") {
const _errs15 = errors;
if (errors === _errs15) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing2;
if (data.type === undefined && (missing2 = "type") || data.image_url === undefined && (missing2 = "image_url")) {
validate37.errors = [{ instancePath, schemaPath: "ImageBlock/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs17 = errors;
if (data.type !== "image_url") {
validate37.errors = [{ instancePath: instancePath + "/type", schemaPath: "ImageBlock/properties/type/const", keyword: "const", params: { allowedValue: "image_url" } }];
return false;
}
var valid8 = _errs17 === errors;
} else {
var valid8 = true;
}
if (valid8) {
if (data.image_url !== undefined) {
let data4 = data.image_url;
const _errs18 = errors;
if (errors === _errs18) {
if (data4 && typeof data4 == "object" && !Array.isArray(data4)) {
let missing3;
if (data4.url === undefined && (missing3 = "url")) {
validate37.errors = [{ instancePath: instancePath + "/image_url", schemaPath: "ImageBlock/properties/image_url/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data4.url !== undefined) {
let data5 = data4.url;
const _errs20 = errors;
if (errors === _errs20) {
if (typeof data5 === "string") {
if (!pattern8.test(data5)) {
validate37.errors = [{ instancePath: instancePath + "/image_url/url", schemaPath: "ImageBlock/properties/image_url/properties/url/pattern", keyword: "pattern", params: { pattern: "^([Hh][Tt][Tt][Pp][Ss]?://|[Dd][Aa][Tt][Aa]:)" } }];
return false;
}
} else {
validate37.errors = [{ instancePath: instancePath + "/image_url/url", schemaPath: "ImageBlock/properties/image_url/properties/url/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid9 = _errs20 === errors;
} else {
var valid9 = true;
}
if (valid9) {
if (data4.detail !== undefined) {
let data6 = data4.detail;
const _errs22 = errors;
if (!(data6 === "auto" || data6 === "low" || data6 === "high")) {
validate37.errors = [{ instancePath: instancePath + "/image_url/detail", schemaPath: "ImageBlock/properties/image_url/properties/detail/enum", keyword: "enum", params: { allowedValues: schema53.properties.image_url.properties.detail.enum } }];
return false;
}
var valid9 = _errs22 === errors;
} else {
var valid9 = true;
}
}
}
} else {
validate37.errors = [{ instancePath: instancePath + "/image_url", schemaPath: "ImageBlock/properties/image_url/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid8 = _errs18 === errors;
} else {
var valid8 = true;
}
}
}
} else {
validate37.errors = [{ instancePath, schemaPath: "ImageBlock/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.image_url = true;
}
} else if (tag0 === "input_audio") {
const _errs24 = errors;
if (errors === _errs24) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing4;
if (data.type === undefined && (missing4 = "type") || data.input_audio === undefined && (missing4 = "input_audio")) {
validate37.errors = [{ instancePath, schemaPath: "AudioBlock/required", keyword: "required", params: { missingProperty: missing4 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs26 = errors;
if (data.type !== "input_audio") {
validate37.errors = [{ instancePath: instancePath + "/type", schemaPath: "AudioBlock/properties/type/const", keyword: "const", params: { allowedValue: "input_audio" } }];
return false;
}
var valid12 = _errs26 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data.input_audio !== undefined) {
let data8 = data.input_audio;
const _errs27 = errors;
if (errors === _errs27) {
if (data8 && typeof data8 == "object" && !Array.isArray(data8)) {
let missing5;
if (data8.data === undefined && (missing5 = "data") || data8.format === undefined && (missing5 = "format")) {
validate37.errors = [{ instancePath: instancePath + "/input_audio", schemaPath: "AudioBlock/properties/input_audio/required", keyword: "required", params: { missingProperty: missing5 } }];
return false;
} else {
if (data8.data !== undefined) {
let data9 = data8.data;
const _errs29 = errors;
if (errors === _errs29) {
if (typeof data9 === "string") {
if (func2(data9) < 1) {
validate37.errors = [{ instancePath: instancePath + "/input_audio/data", schemaPath: "AudioBlock/properties/input_audio/properties/data/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate37.errors = [{ instancePath: instancePath + "/input_audio/data", schemaPath: "AudioBlock/properties/input_audio/properties/data/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid13 = _errs29 === errors;
} else {
var valid13 = true;
}
if (valid13) {
if (data8.format !== undefined) {
let data10 = data8.format;
const _errs31 = errors;
if (!(data10 === "wav" || data10 === "mp3")) {
validate37.errors = [{ instancePath: instancePath + "/input_audio/format", schemaPath: "AudioBlock/properties/input_audio/properties/format/enum", keyword: "enum", params: { allowedValues: schema54.properties.input_audio.properties.format.enum } }];
return false;
}
var valid13 = _errs31 === errors;
} else {
var valid13 = true;
}
}
}
} else {
validate37.errors = [{ instancePath: instancePath + "/input_audio", schemaPath: "AudioBlock/properties/input_audio/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid12 = _errs27 === errors;
} else {
var valid12 = true;
}
}
}
} else {
validate37.errors = [{ instancePath, schemaPath: "AudioBlock/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.input_audio = true;
}
} else if (tag0 === "file") {
const _errs33 = errors;
if (errors === _errs33) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing6;
if (data.type === undefined && (missing6 = "type") || data.file === undefined && (missing6 = "file")) {
validate37.errors = [{ instancePath, schemaPath: "FileBlock/required", keyword: "required", params: { missingProperty: missing6 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs35 = errors;
if (data.type !== "file") {
validate37.errors = [{ instancePath: instancePath + "/type", schemaPath: "FileBlock/properties/type/const", keyword: "const", params: { allowedValue: "file" } }];
return false;
}
var valid16 = _errs35 === errors;
} else {
var valid16 = true;
}
if (valid16) {
if (data.file !== undefined) {
let data12 = data.file;
const _errs36 = errors;
const _errs38 = errors;
let valid17 = false;
const _errs39 = errors;
if (data12 && typeof data12 == "object" && !Array.isArray(data12)) {
let missing7;
if (data12.file_id === undefined && (missing7 = "file_id")) {
const err0 = { instancePath: instancePath + "/file", schemaPath: "FileBlock/properties/file/anyOf/0/required", keyword: "required", params: { missingProperty: missing7 } };
if (vErrors === null) {
vErrors = [err0];
} else {
vErrors.push(err0);
}
errors++;
}
}
var _valid0 = _errs39 === errors;
valid17 = valid17 || _valid0;
const _errs40 = errors;
if (data12 && typeof data12 == "object" && !Array.isArray(data12)) {
let missing8;
if (data12.file_data === undefined && (missing8 = "file_data")) {
const err1 = { instancePath: instancePath + "/file", schemaPath: "FileBlock/properties/file/anyOf/1/required", keyword: "required", params: { missingProperty: missing8 } };
if (vErrors === null) {
vErrors = [err1];
} else {
vErrors.push(err1);
}
errors++;
}
}
var _valid0 = _errs40 === errors;
valid17 = valid17 || _valid0;
const _errs41 = errors;
if (data12 && typeof data12 == "object" && !Array.isArray(data12)) {
let missing9;
if (data12.file_url === undefined && (missing9 = "file_url")) {
const err2 = { instancePath: instancePath + "/file", schemaPath: "FileBlock/properties/file/anyOf/2/required", keyword: "required", params: { missingProperty: missing9 } };
if (vErrors === null) {
vErrors = [err2];
} else {
vErrors.push(err2);
}
errors++;
}
}
var _valid0 = _errs41 === errors;
valid17 = valid17 || _valid0;
if (!valid17) {
const err3 = { instancePath: instancePath + "/file", schemaPath: "FileBlock/properties/file/anyOf", keyword: "anyOf", params: {} };
if (vErrors === null) {
vErrors = [err3];
} else {
vErrors.push(err3);
}
errors++;
validate37.errors = vErrors;
return false;
} else {
errors = _errs38;
if (vErrors !== null) {
if (_errs38) {
vErrors.length = _errs38;
} else {
vErrors = null;
}
}
}
if (errors === _errs36) {
if (data12 && typeof data12 == "object" && !Array.isArray(data12)) {
if (data12.file_id !== undefined) {
let data13 = data12.file_id;
const _errs42 = errors;
if (errors === _errs42) {
if (typeof data13 === "string") {
if (func2(data13) < 1) {
validate37.errors = [{ instancePath: instancePath + "/file/file_id", schemaPath: "FileBlock/properties/file/properties/file_id/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate37.errors = [{ instancePath: instancePath + "/file/file_id", schemaPath: "FileBlock/properties/file/properties/file_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid18 = _errs42 === errors;
} else {
var valid18 = true;
}
if (valid18) {
if (data12.file_data !== undefined) {
let data14 = data12.file_data;
const _errs44 = errors;
if (errors === _errs44) {
if (typeof data14 === "string") {
if (func2(data14) < 1) {
validate37.errors = [{ instancePath: instancePath + "/file/file_data", schemaPath: "FileBlock/properties/file/properties/file_data/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate37.errors = [{ instancePath: instancePath + "/file/file_data", schemaPath: "FileBlock/properties/file/properties/file_data/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid18 = _errs44 === errors;
} else {
var valid18 = true;
}
if (valid18) {
if (data12.file_url !== undefined) {
let data15 = data12.file_url;
const _errs46 = errors;
if (errors === _errs46) {
if (typeof data15 === "string") {
if (func2(data15) < 1) {
validate37.errors = [{ instancePath: instancePath + "/file/file_url", schemaPath: "FileBlock/properties/file/properties/file_url/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate37.errors = [{ instancePath: instancePath + "/file/file_url", schemaPath: "FileBlock/properties/file/properties/file_url/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid18 = _errs46 === errors;
} else {
var valid18 = true;
}
if (valid18) {
if (data12.filename !== undefined) {
const _errs48 = errors;
if (typeof data12.filename !== "string") {
validate37.errors = [{ instancePath: instancePath + "/file/filename", schemaPath: "FileBlock/properties/file/properties/filename/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid18 = _errs48 === errors;
} else {
var valid18 = true;
}
}
}
}
} else {
validate37.errors = [{ instancePath: instancePath + "/file", schemaPath: "FileBlock/properties/file/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid16 = _errs36 === errors;
} else {
var valid16 = true;
}
}
}
} else {
validate37.errors = [{ instancePath, schemaPath: "FileBlock/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.file = true;
}
} else {
validate37.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate37.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate37.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs5 === errors;
if (valid0) {
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
}
}
}
validate37.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate37.evaluated = { dynamicProps: true, dynamicItems: false };
function validate36(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate36.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.role === undefined && (missing0 = "role") || data.content === undefined && (missing0 = "content")) {
validate36.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.role !== undefined) {
const _errs1 = errors;
if (data.role !== "user") {
validate36.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/properties/role/const", keyword: "const", params: { allowedValue: "user" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.content !== undefined) {
let data1 = data.content;
const _errs2 = errors;
if (typeof data1 !== "string" && !Array.isArray(data1)) {
validate36.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: schema50.properties.content.type } }];
return false;
}
if (errors === _errs2) {
if (Array.isArray(data1)) {
if (data1.length < 1) {
validate36.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid1 = true;
const len0 = data1.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs4 = errors;
if (!validate37(data1[i0], { instancePath: instancePath + "/content/" + i0, parentData: data1, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate37.errors : vErrors.concat(validate37.errors);
errors = vErrors.length;
}
var valid1 = _errs4 === errors;
if (!valid1) {
break;
}
}
}
}
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.name !== undefined) {
const _errs5 = errors;
if (typeof data.name !== "string") {
validate36.errors = [{ instancePath: instancePath + "/name", schemaPath: "#/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
}
}
}
} else {
validate36.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate36.errors = vErrors;
return errors === 0;
}
validate36.evaluated = { props: { role: true, content: true, name: true }, dynamicProps: false, dynamicItems: false };
var schema56 = { type: "object", required: ["role"], properties: { role: { const: "assistant" }, content: { type: ["string", "array", "null"], minItems: 1, items: { $ref: "AssistantContentBlock" } }, refusal: { type: ["string", "null"] }, name: { type: "string" }, audio: { type: ["object", "null"], required: ["id"], properties: { id: { type: "string" } } }, reasoning_content: { type: ["string", "null"] }, tool_calls: { type: "array", items: { $ref: "ToolCall" } }, function_call: { type: ["object", "null"], required: ["name", "arguments"], properties: { name: { type: "string" }, arguments: { type: "string" } } } }, if: { anyOf: [{ required: ["content"], properties: { content: { type: ["string", "array"] } } }, { required: ["tool_calls"], properties: { tool_calls: { type: "array", minItems: 1 } } }, { required: ["function_call"], properties: { function_call: { type: "object" } } }, { required: ["refusal"], properties: { refusal: { type: "string" } } }, { required: ["audio"], properties: { audio: { type: "object" } } }] }, else: { required: ["content"], properties: { content: { type: ["string", "array"] } } } };
var schema57 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["text", "refusal"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "TextBlock" }, { $ref: "RefusalBlock" }] }] };
function validate40(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate40.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate40.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate40.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate40.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "text" || data0 === "refusal")) {
validate40.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema57.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate40.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs1 === errors;
if (valid0) {
const _errs5 = errors;
if (errors === _errs5) {
if (data && typeof data == "object" && !Array.isArray(data)) {
const tag0 = data.type;
if (typeof tag0 == "string") {
if (tag0 === "text") {
const _errs9 = errors;
if (errors === _errs9) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing1;
if (data.type === undefined && (missing1 = "type") || data.text === undefined && (missing1 = "text")) {
validate40.errors = [{ instancePath, schemaPath: "TextBlock/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs11 = errors;
if (data.type !== "text") {
validate40.errors = [{ instancePath: instancePath + "/type", schemaPath: "TextBlock/properties/type/const", keyword: "const", params: { allowedValue: "text" } }];
return false;
}
var valid5 = _errs11 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data.text !== undefined) {
const _errs12 = errors;
if (typeof data.text !== "string") {
validate40.errors = [{ instancePath: instancePath + "/text", schemaPath: "TextBlock/properties/text/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid5 = _errs12 === errors;
} else {
var valid5 = true;
}
}
}
} else {
validate40.errors = [{ instancePath, schemaPath: "TextBlock/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var props0 = {};
props0.type = true;
props0.text = true;
} else if (tag0 === "refusal") {
const _errs15 = errors;
if (errors === _errs15) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing2;
if (data.type === undefined && (missing2 = "type") || data.refusal === undefined && (missing2 = "refusal")) {
validate40.errors = [{ instancePath, schemaPath: "RefusalBlock/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs17 = errors;
if (data.type !== "refusal") {
validate40.errors = [{ instancePath: instancePath + "/type", schemaPath: "RefusalBlock/properties/type/const", keyword: "const", params: { allowedValue: "refusal" } }];
return false;
}
var valid8 = _errs17 === errors;
} else {
var valid8 = true;
}
if (valid8) {
if (data.refusal !== undefined) {
const _errs18 = errors;
if (typeof data.refusal !== "string") {
validate40.errors = [{ instancePath: instancePath + "/refusal", schemaPath: "RefusalBlock/properties/refusal/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid8 = _errs18 === errors;
} else {
var valid8 = true;
}
}
}
} else {
validate40.errors = [{ instancePath, schemaPath: "RefusalBlock/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.refusal = true;
}
} else {
validate40.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate40.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate40.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs5 === errors;
if (valid0) {
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
}
}
}
validate40.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate40.evaluated = { dynamicProps: true, dynamicItems: false };
var schema60 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["function", "custom"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "FunctionToolCall" }, { $ref: "CustomToolCall" }] }] };
function validate42(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate42.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate42.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate42.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate42.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "function" || data0 === "custom")) {
validate42.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema60.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate42.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs1 === errors;
if (valid0) {
const _errs5 = errors;
if (errors === _errs5) {
if (data && typeof data == "object" && !Array.isArray(data)) {
const tag0 = data.type;
if (typeof tag0 == "string") {
if (tag0 === "function") {
const _errs9 = errors;
if (errors === _errs9) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing1;
if (data.id === undefined && (missing1 = "id") || data.type === undefined && (missing1 = "type") || data.function === undefined && (missing1 = "function")) {
validate42.errors = [{ instancePath, schemaPath: "FunctionToolCall/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data.id !== undefined) {
const _errs11 = errors;
if (typeof data.id !== "string") {
validate42.errors = [{ instancePath: instancePath + "/id", schemaPath: "FunctionToolCall/properties/id/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid5 = _errs11 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data.type !== undefined) {
const _errs13 = errors;
if (data.type !== "function") {
validate42.errors = [{ instancePath: instancePath + "/type", schemaPath: "FunctionToolCall/properties/type/const", keyword: "const", params: { allowedValue: "function" } }];
return false;
}
var valid5 = _errs13 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data.function !== undefined) {
let data3 = data.function;
const _errs14 = errors;
if (errors === _errs14) {
if (data3 && typeof data3 == "object" && !Array.isArray(data3)) {
let missing2;
if (data3.name === undefined && (missing2 = "name") || data3.arguments === undefined && (missing2 = "arguments")) {
validate42.errors = [{ instancePath: instancePath + "/function", schemaPath: "FunctionToolCall/properties/function/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data3.name !== undefined) {
const _errs16 = errors;
if (typeof data3.name !== "string") {
validate42.errors = [{ instancePath: instancePath + "/function/name", schemaPath: "FunctionToolCall/properties/function/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid6 = _errs16 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data3.arguments !== undefined) {
const _errs18 = errors;
if (typeof data3.arguments !== "string") {
validate42.errors = [{ instancePath: instancePath + "/function/arguments", schemaPath: "FunctionToolCall/properties/function/properties/arguments/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid6 = _errs18 === errors;
} else {
var valid6 = true;
}
}
}
} else {
validate42.errors = [{ instancePath: instancePath + "/function", schemaPath: "FunctionToolCall/properties/function/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid5 = _errs14 === errors;
} else {
var valid5 = true;
}
}
}
}
} else {
validate42.errors = [{ instancePath, schemaPath: "FunctionToolCall/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var props0 = {};
props0.id = true;
props0.type = true;
props0.function = true;
} else if (tag0 === "custom") {
const _errs21 = errors;
if (errors === _errs21) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing3;
if (data.id === undefined && (missing3 = "id") || data.type === undefined && (missing3 = "type") || data.custom === undefined && (missing3 = "custom")) {
validate42.errors = [{ instancePath, schemaPath: "CustomToolCall/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data.id !== undefined) {
const _errs23 = errors;
if (typeof data.id !== "string") {
validate42.errors = [{ instancePath: instancePath + "/id", schemaPath: "CustomToolCall/properties/id/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid9 = _errs23 === errors;
} else {
var valid9 = true;
}
if (valid9) {
if (data.type !== undefined) {
const _errs25 = errors;
if (data.type !== "custom") {
validate42.errors = [{ instancePath: instancePath + "/type", schemaPath: "CustomToolCall/properties/type/const", keyword: "const", params: { allowedValue: "custom" } }];
return false;
}
var valid9 = _errs25 === errors;
} else {
var valid9 = true;
}
if (valid9) {
if (data.custom !== undefined) {
let data8 = data.custom;
const _errs26 = errors;
if (errors === _errs26) {
if (data8 && typeof data8 == "object" && !Array.isArray(data8)) {
let missing4;
if (data8.name === undefined && (missing4 = "name") || data8.input === undefined && (missing4 = "input")) {
validate42.errors = [{ instancePath: instancePath + "/custom", schemaPath: "CustomToolCall/properties/custom/required", keyword: "required", params: { missingProperty: missing4 } }];
return false;
} else {
if (data8.name !== undefined) {
const _errs28 = errors;
if (typeof data8.name !== "string") {
validate42.errors = [{ instancePath: instancePath + "/custom/name", schemaPath: "CustomToolCall/properties/custom/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid10 = _errs28 === errors;
} else {
var valid10 = true;
}
if (valid10) {
if (data8.input !== undefined) {
const _errs30 = errors;
if (typeof data8.input !== "string") {
validate42.errors = [{ instancePath: instancePath + "/custom/input", schemaPath: "CustomToolCall/properties/custom/properties/input/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid10 = _errs30 === errors;
} else {
var valid10 = true;
}
}
}
} else {
validate42.errors = [{ instancePath: instancePath + "/custom", schemaPath: "CustomToolCall/properties/custom/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid9 = _errs26 === errors;
} else {
var valid9 = true;
}
}
}
}
} else {
validate42.errors = [{ instancePath, schemaPath: "CustomToolCall/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.id = true;
props0.type = true;
props0.custom = true;
}
} else {
validate42.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate42.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate42.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs5 === errors;
if (valid0) {
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
}
}
}
validate42.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate42.evaluated = { dynamicProps: true, dynamicItems: false };
function validate39(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate39.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
const _errs1 = errors;
let valid0 = true;
const _errs2 = errors;
const _errs3 = errors;
let valid1 = false;
const _errs4 = errors;
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.content === undefined && (missing0 = "content")) {
const err0 = {};
if (vErrors === null) {
vErrors = [err0];
} else {
vErrors.push(err0);
}
errors++;
} else {
if (data.content !== undefined) {
let data0 = data.content;
if (typeof data0 !== "string" && !Array.isArray(data0)) {
const err1 = {};
if (vErrors === null) {
vErrors = [err1];
} else {
vErrors.push(err1);
}
errors++;
}
}
}
}
var _valid1 = _errs4 === errors;
valid1 = valid1 || _valid1;
if (_valid1) {
var props0 = {};
props0.content = true;
}
const _errs7 = errors;
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing1;
if (data.tool_calls === undefined && (missing1 = "tool_calls")) {
const err2 = {};
if (vErrors === null) {
vErrors = [err2];
} else {
vErrors.push(err2);
}
errors++;
} else {
if (data.tool_calls !== undefined) {
let data1 = data.tool_calls;
const _errs8 = errors;
if (errors === _errs8) {
if (Array.isArray(data1)) {
if (data1.length < 1) {
const err3 = {};
if (vErrors === null) {
vErrors = [err3];
} else {
vErrors.push(err3);
}
errors++;
}
} else {
const err4 = {};
if (vErrors === null) {
vErrors = [err4];
} else {
vErrors.push(err4);
}
errors++;
}
}
}
}
}
var _valid1 = _errs7 === errors;
valid1 = valid1 || _valid1;
if (_valid1) {
if (props0 !== true) {
props0 = props0 || {};
props0.tool_calls = true;
}
}
const _errs10 = errors;
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing2;
if (data.function_call === undefined && (missing2 = "function_call")) {
const err5 = {};
if (vErrors === null) {
vErrors = [err5];
} else {
vErrors.push(err5);
}
errors++;
} else {
if (data.function_call !== undefined) {
let data2 = data.function_call;
if (!(data2 && typeof data2 == "object" && !Array.isArray(data2))) {
const err6 = {};
if (vErrors === null) {
vErrors = [err6];
} else {
vErrors.push(err6);
}
errors++;
}
}
}
}
var _valid1 = _errs10 === errors;
valid1 = valid1 || _valid1;
if (_valid1) {
if (props0 !== true) {
props0 = props0 || {};
props0.function_call = true;
}
}
const _errs13 = errors;
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing3;
if (data.refusal === undefined && (missing3 = "refusal")) {
const err7 = {};
if (vErrors === null) {
vErrors = [err7];
} else {
vErrors.push(err7);
}
errors++;
} else {
if (data.refusal !== undefined) {
if (typeof data.refusal !== "string") {
const err8 = {};
if (vErrors === null) {
vErrors = [err8];
} else {
vErrors.push(err8);
}
errors++;
}
}
}
}
var _valid1 = _errs13 === errors;
valid1 = valid1 || _valid1;
if (_valid1) {
if (props0 !== true) {
props0 = props0 || {};
props0.refusal = true;
}
}
const _errs16 = errors;
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing4;
if (data.audio === undefined && (missing4 = "audio")) {
const err9 = {};
if (vErrors === null) {
vErrors = [err9];
} else {
vErrors.push(err9);
}
errors++;
} else {
if (data.audio !== undefined) {
let data4 = data.audio;
if (!(data4 && typeof data4 == "object" && !Array.isArray(data4))) {
const err10 = {};
if (vErrors === null) {
vErrors = [err10];
} else {
vErrors.push(err10);
}
errors++;
}
}
}
}
var _valid1 = _errs16 === errors;
valid1 = valid1 || _valid1;
if (_valid1) {
if (props0 !== true) {
props0 = props0 || {};
props0.audio = true;
}
}
if (!valid1) {
const err11 = {};
if (vErrors === null) {
vErrors = [err11];
} else {
vErrors.push(err11);
}
errors++;
} else {
errors = _errs3;
if (vErrors !== null) {
if (_errs3) {
vErrors.length = _errs3;
} else {
vErrors = null;
}
}
}
var _valid0 = _errs2 === errors;
errors = _errs1;
if (vErrors !== null) {
if (_errs1) {
vErrors.length = _errs1;
} else {
vErrors = null;
}
}
if (!_valid0) {
const _errs19 = errors;
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing5;
if (data.content === undefined && (missing5 = "content")) {
validate39.errors = [{ instancePath, schemaPath: "#/else/required", keyword: "required", params: { missingProperty: missing5 } }];
return false;
} else {
if (data.content !== undefined) {
let data5 = data.content;
if (typeof data5 !== "string" && !Array.isArray(data5)) {
validate39.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/else/properties/content/type", keyword: "type", params: { type: schema56.else.properties.content.type } }];
return false;
}
}
}
}
var _valid0 = _errs19 === errors;
valid0 = _valid0;
if (valid0) {
if (props0 !== true) {
props0 = props0 || {};
props0.content = true;
}
}
}
if (!valid0) {
const err12 = { instancePath, schemaPath: "#/if", keyword: "if", params: { failingKeyword: "else" } };
if (vErrors === null) {
vErrors = [err12];
} else {
vErrors.push(err12);
}
errors++;
validate39.errors = vErrors;
return false;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing6;
if (data.role === undefined && (missing6 = "role")) {
validate39.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing6 } }];
return false;
} else {
if (props0 !== true) {
props0 = props0 || {};
props0.role = true;
props0.content = true;
props0.refusal = true;
props0.name = true;
props0.audio = true;
props0.reasoning_content = true;
props0.tool_calls = true;
props0.function_call = true;
}
if (data.role !== undefined) {
const _errs22 = errors;
if (data.role !== "assistant") {
validate39.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/properties/role/const", keyword: "const", params: { allowedValue: "assistant" } }];
return false;
}
var valid8 = _errs22 === errors;
} else {
var valid8 = true;
}
if (valid8) {
if (data.content !== undefined) {
let data7 = data.content;
const _errs23 = errors;
if (typeof data7 !== "string" && !Array.isArray(data7) && data7 !== null) {
validate39.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: schema56.properties.content.type } }];
return false;
}
if (errors === _errs23) {
if (Array.isArray(data7)) {
if (data7.length < 1) {
validate39.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid9 = true;
const len0 = data7.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs25 = errors;
if (!validate40(data7[i0], { instancePath: instancePath + "/content/" + i0, parentData: data7, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate40.errors : vErrors.concat(validate40.errors);
errors = vErrors.length;
}
var valid9 = _errs25 === errors;
if (!valid9) {
break;
}
}
}
}
}
var valid8 = _errs23 === errors;
} else {
var valid8 = true;
}
if (valid8) {
if (data.refusal !== undefined) {
let data9 = data.refusal;
const _errs26 = errors;
if (typeof data9 !== "string" && data9 !== null) {
validate39.errors = [{ instancePath: instancePath + "/refusal", schemaPath: "#/properties/refusal/type", keyword: "type", params: { type: schema56.properties.refusal.type } }];
return false;
}
var valid8 = _errs26 === errors;
} else {
var valid8 = true;
}
if (valid8) {
if (data.name !== undefined) {
const _errs28 = errors;
if (typeof data.name !== "string") {
validate39.errors = [{ instancePath: instancePath + "/name", schemaPath: "#/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid8 = _errs28 === errors;
} else {
var valid8 = true;
}
if (valid8) {
if (data.audio !== undefined) {
let data11 = data.audio;
const _errs30 = errors;
if (!(data11 && typeof data11 == "object" && !Array.isArray(data11)) && data11 !== null) {
validate39.errors = [{ instancePath: instancePath + "/audio", schemaPath: "#/properties/audio/type", keyword: "type", params: { type: schema56.properties.audio.type } }];
return false;
}
if (errors === _errs30) {
if (data11 && typeof data11 == "object" && !Array.isArray(data11)) {
let missing7;
if (data11.id === undefined && (missing7 = "id")) {
validate39.errors = [{ instancePath: instancePath + "/audio", schemaPath: "#/properties/audio/required", keyword: "required", params: { missingProperty: missing7 } }];
return false;
} else {
if (data11.id !== undefined) {
if (typeof data11.id !== "string") {
validate39.errors = [{ instancePath: instancePath + "/audio/id", schemaPath: "#/properties/audio/properties/id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
}
}
var valid8 = _errs30 === errors;
} else {
var valid8 = true;
}
if (valid8) {
if (data.reasoning_content !== undefined) {
let data13 = data.reasoning_content;
const _errs34 = errors;
if (typeof data13 !== "string" && data13 !== null) {
validate39.errors = [{ instancePath: instancePath + "/reasoning_content", schemaPath: "#/properties/reasoning_content/type", keyword: "type", params: { type: schema56.properties.reasoning_content.type } }];
return false;
}
var valid8 = _errs34 === errors;
} else {
var valid8 = true;
}
if (valid8) {
if (data.tool_calls !== undefined) {
let data14 = data.tool_calls;
const _errs36 = errors;
if (errors === _errs36) {
if (Array.isArray(data14)) {
var valid11 = true;
const len1 = data14.length;
for (let i1 = 0;i1 < len1; i1++) {
const _errs38 = errors;
if (!validate42(data14[i1], { instancePath: instancePath + "/tool_calls/" + i1, parentData: data14, parentDataProperty: i1, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate42.errors : vErrors.concat(validate42.errors);
errors = vErrors.length;
}
var valid11 = _errs38 === errors;
if (!valid11) {
break;
}
}
} else {
validate39.errors = [{ instancePath: instancePath + "/tool_calls", schemaPath: "#/properties/tool_calls/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid8 = _errs36 === errors;
} else {
var valid8 = true;
}
if (valid8) {
if (data.function_call !== undefined) {
let data16 = data.function_call;
const _errs39 = errors;
if (!(data16 && typeof data16 == "object" && !Array.isArray(data16)) && data16 !== null) {
validate39.errors = [{ instancePath: instancePath + "/function_call", schemaPath: "#/properties/function_call/type", keyword: "type", params: { type: schema56.properties.function_call.type } }];
return false;
}
if (errors === _errs39) {
if (data16 && typeof data16 == "object" && !Array.isArray(data16)) {
let missing8;
if (data16.name === undefined && (missing8 = "name") || data16.arguments === undefined && (missing8 = "arguments")) {
validate39.errors = [{ instancePath: instancePath + "/function_call", schemaPath: "#/properties/function_call/required", keyword: "required", params: { missingProperty: missing8 } }];
return false;
} else {
if (data16.name !== undefined) {
const _errs41 = errors;
if (typeof data16.name !== "string") {
validate39.errors = [{ instancePath: instancePath + "/function_call/name", schemaPath: "#/properties/function_call/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid12 = _errs41 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data16.arguments !== undefined) {
const _errs43 = errors;
if (typeof data16.arguments !== "string") {
validate39.errors = [{ instancePath: instancePath + "/function_call/arguments", schemaPath: "#/properties/function_call/properties/arguments/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid12 = _errs43 === errors;
} else {
var valid12 = true;
}
}
}
}
}
var valid8 = _errs39 === errors;
} else {
var valid8 = true;
}
}
}
}
}
}
}
}
}
} else {
validate39.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate39.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate39.evaluated = { dynamicProps: true, dynamicItems: false };
var schema63 = { type: "object", required: ["role", "content", "tool_call_id"], properties: { role: { const: "tool" }, content: { type: ["string", "array"], minItems: 1, items: { $ref: "TextOnlyBlock" } }, tool_call_id: { type: "string" } } };
function validate44(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate44.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.role === undefined && (missing0 = "role") || data.content === undefined && (missing0 = "content") || data.tool_call_id === undefined && (missing0 = "tool_call_id")) {
validate44.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.role !== undefined) {
const _errs1 = errors;
if (data.role !== "tool") {
validate44.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/properties/role/const", keyword: "const", params: { allowedValue: "tool" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.content !== undefined) {
let data1 = data.content;
const _errs2 = errors;
if (typeof data1 !== "string" && !Array.isArray(data1)) {
validate44.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: schema63.properties.content.type } }];
return false;
}
if (errors === _errs2) {
if (Array.isArray(data1)) {
if (data1.length < 1) {
validate44.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid1 = true;
const len0 = data1.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs4 = errors;
if (!validate32(data1[i0], { instancePath: instancePath + "/content/" + i0, parentData: data1, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate32.errors : vErrors.concat(validate32.errors);
errors = vErrors.length;
}
var valid1 = _errs4 === errors;
if (!valid1) {
break;
}
}
}
}
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.tool_call_id !== undefined) {
const _errs5 = errors;
if (typeof data.tool_call_id !== "string") {
validate44.errors = [{ instancePath: instancePath + "/tool_call_id", schemaPath: "#/properties/tool_call_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
}
}
}
} else {
validate44.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate44.errors = vErrors;
return errors === 0;
}
validate44.evaluated = { props: { role: true, content: true, tool_call_id: true }, dynamicProps: false, dynamicItems: false };
function validate30(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate30.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate30.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.role === undefined && (missing0 = "role")) {
validate30.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.role !== undefined) {
let data0 = data.role;
if (typeof data0 !== "string") {
validate30.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/allOf/0/properties/role/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "developer" || data0 === "system" || data0 === "user" || data0 === "assistant" || data0 === "tool" || data0 === "function")) {
validate30.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/allOf/0/properties/role/enum", keyword: "enum", params: { allowedValues: schema45.allOf[0].properties.role.enum } }];
return false;
}
}
}
} else {
validate30.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs1 === errors;
if (valid0) {
const _errs5 = errors;
if (errors === _errs5) {
if (data && typeof data == "object" && !Array.isArray(data)) {
const tag0 = data.role;
if (typeof tag0 == "string") {
if (tag0 === "developer") {
if (!validate31(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate31.errors : vErrors.concat(validate31.errors);
errors = vErrors.length;
}
var props0 = {};
props0.role = true;
props0.content = true;
props0.name = true;
} else if (tag0 === "system") {
if (!validate34(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate34.errors : vErrors.concat(validate34.errors);
errors = vErrors.length;
}
if (props0 !== true) {
props0 = props0 || {};
props0.role = true;
props0.content = true;
props0.name = true;
}
} else if (tag0 === "user") {
if (!validate36(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
if (props0 !== true) {
props0 = props0 || {};
props0.role = true;
props0.content = true;
props0.name = true;
}
} else if (tag0 === "assistant") {
if (!validate39(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate39.errors : vErrors.concat(validate39.errors);
errors = vErrors.length;
} else {
var props1 = validate39.evaluated.props;
}
if (props0 !== true && props1 !== undefined) {
if (props1 === true) {
props0 = true;
} else {
props0 = props0 || {};
Object.assign(props0, props1);
}
}
} else if (tag0 === "tool") {
if (!validate44(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate44.errors : vErrors.concat(validate44.errors);
errors = vErrors.length;
}
if (props0 !== true) {
props0 = props0 || {};
props0.role = true;
props0.content = true;
props0.tool_call_id = true;
}
} else if (tag0 === "function") {
const _errs14 = errors;
if (errors === _errs14) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing1;
if (data.role === undefined && (missing1 = "role") || data.content === undefined && (missing1 = "content") || data.name === undefined && (missing1 = "name")) {
validate30.errors = [{ instancePath, schemaPath: "FunctionMessage/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data.role !== undefined) {
const _errs16 = errors;
if (data.role !== "function") {
validate30.errors = [{ instancePath: instancePath + "/role", schemaPath: "FunctionMessage/properties/role/const", keyword: "const", params: { allowedValue: "function" } }];
return false;
}
var valid10 = _errs16 === errors;
} else {
var valid10 = true;
}
if (valid10) {
if (data.content !== undefined) {
let data2 = data.content;
const _errs17 = errors;
if (typeof data2 !== "string" && data2 !== null) {
validate30.errors = [{ instancePath: instancePath + "/content", schemaPath: "FunctionMessage/properties/content/type", keyword: "type", params: { type: schema64.properties.content.type } }];
return false;
}
var valid10 = _errs17 === errors;
} else {
var valid10 = true;
}
if (valid10) {
if (data.name !== undefined) {
const _errs19 = errors;
if (typeof data.name !== "string") {
validate30.errors = [{ instancePath: instancePath + "/name", schemaPath: "FunctionMessage/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid10 = _errs19 === errors;
} else {
var valid10 = true;
}
}
}
}
} else {
validate30.errors = [{ instancePath, schemaPath: "FunctionMessage/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.role = true;
props0.content = true;
props0.name = true;
}
} else {
validate30.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "role", tagValue: tag0 } }];
return false;
}
} else {
validate30.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "role", tagValue: tag0 } }];
return false;
}
} else {
validate30.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs5 === errors;
if (valid0) {
if (props0 !== true) {
props0 = props0 || {};
props0.role = true;
}
}
}
validate30.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate30.evaluated = { dynamicProps: true, dynamicItems: false };
var validateChatTool = validate51;
var schema65 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["function", "custom"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "FunctionTool" }, { $ref: "CustomTool" }] }] };
var schema67 = { type: "object", required: ["name"], properties: { name: { type: "string", pattern: "^[a-zA-Z0-9_-]{1,64}$" }, description: { type: "string" }, parameters: { type: "object" }, strict: { type: ["boolean", "null"] } } };
var pattern9 = new RegExp("^[a-zA-Z0-9_-]{1,64}$", "u");
function validate52(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate52.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type") || data.function === undefined && (missing0 = "function")) {
validate52.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs1 = errors;
if (data.type !== "function") {
validate52.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/properties/type/const", keyword: "const", params: { allowedValue: "function" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.function !== undefined) {
let data1 = data.function;
const _errs2 = errors;
const _errs3 = errors;
if (errors === _errs3) {
if (data1 && typeof data1 == "object" && !Array.isArray(data1)) {
let missing1;
if (data1.name === undefined && (missing1 = "name")) {
validate52.errors = [{ instancePath: instancePath + "/function", schemaPath: "FunctionDefinition/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data1.name !== undefined) {
let data2 = data1.name;
const _errs5 = errors;
if (errors === _errs5) {
if (typeof data2 === "string") {
if (!pattern9.test(data2)) {
validate52.errors = [{ instancePath: instancePath + "/function/name", schemaPath: "FunctionDefinition/properties/name/pattern", keyword: "pattern", params: { pattern: "^[a-zA-Z0-9_-]{1,64}$" } }];
return false;
}
} else {
validate52.errors = [{ instancePath: instancePath + "/function/name", schemaPath: "FunctionDefinition/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid2 = _errs5 === errors;
} else {
var valid2 = true;
}
if (valid2) {
if (data1.description !== undefined) {
const _errs7 = errors;
if (typeof data1.description !== "string") {
validate52.errors = [{ instancePath: instancePath + "/function/description", schemaPath: "FunctionDefinition/properties/description/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid2 = _errs7 === errors;
} else {
var valid2 = true;
}
if (valid2) {
if (data1.parameters !== undefined) {
let data4 = data1.parameters;
const _errs9 = errors;
if (!(data4 && typeof data4 == "object" && !Array.isArray(data4))) {
validate52.errors = [{ instancePath: instancePath + "/function/parameters", schemaPath: "FunctionDefinition/properties/parameters/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid2 = _errs9 === errors;
} else {
var valid2 = true;
}
if (valid2) {
if (data1.strict !== undefined) {
let data5 = data1.strict;
const _errs11 = errors;
if (typeof data5 !== "boolean" && data5 !== null) {
validate52.errors = [{ instancePath: instancePath + "/function/strict", schemaPath: "FunctionDefinition/properties/strict/type", keyword: "type", params: { type: schema67.properties.strict.type } }];
return false;
}
var valid2 = _errs11 === errors;
} else {
var valid2 = true;
}
}
}
}
}
} else {
validate52.errors = [{ instancePath: instancePath + "/function", schemaPath: "FunctionDefinition/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
}
}
} else {
validate52.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate52.errors = vErrors;
return errors === 0;
}
validate52.evaluated = { props: { type: true, function: true }, dynamicProps: false, dynamicItems: false };
var schema69 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["text", "grammar"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "TextToolFormat" }, { $ref: "GrammarToolFormat" }] }] };
var schema71 = { type: "object", required: ["type", "grammar"], properties: { type: { const: "grammar" }, grammar: { type: "object", required: ["definition", "syntax"], properties: { definition: { type: "string" }, syntax: { enum: ["lark", "regex"] } } } } };
function validate54(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate54.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate54.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate54.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate54.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "text" || data0 === "grammar")) {
validate54.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema69.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate54.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs1 === errors;
if (valid0) {
const _errs5 = errors;
if (errors === _errs5) {
if (data && typeof data == "object" && !Array.isArray(data)) {
const tag0 = data.type;
if (typeof tag0 == "string") {
if (tag0 === "text") {
const _errs9 = errors;
if (errors === _errs9) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing1;
if (data.type === undefined && (missing1 = "type")) {
validate54.errors = [{ instancePath, schemaPath: "TextToolFormat/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data.type !== undefined) {
if (data.type !== "text") {
validate54.errors = [{ instancePath: instancePath + "/type", schemaPath: "TextToolFormat/properties/type/const", keyword: "const", params: { allowedValue: "text" } }];
return false;
}
}
}
} else {
validate54.errors = [{ instancePath, schemaPath: "TextToolFormat/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var props0 = {};
props0.type = true;
} else if (tag0 === "grammar") {
const _errs13 = errors;
if (errors === _errs13) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing2;
if (data.type === undefined && (missing2 = "type") || data.grammar === undefined && (missing2 = "grammar")) {
validate54.errors = [{ instancePath, schemaPath: "GrammarToolFormat/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs15 = errors;
if (data.type !== "grammar") {
validate54.errors = [{ instancePath: instancePath + "/type", schemaPath: "GrammarToolFormat/properties/type/const", keyword: "const", params: { allowedValue: "grammar" } }];
return false;
}
var valid8 = _errs15 === errors;
} else {
var valid8 = true;
}
if (valid8) {
if (data.grammar !== undefined) {
let data3 = data.grammar;
const _errs16 = errors;
if (errors === _errs16) {
if (data3 && typeof data3 == "object" && !Array.isArray(data3)) {
let missing3;
if (data3.definition === undefined && (missing3 = "definition") || data3.syntax === undefined && (missing3 = "syntax")) {
validate54.errors = [{ instancePath: instancePath + "/grammar", schemaPath: "GrammarToolFormat/properties/grammar/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data3.definition !== undefined) {
const _errs18 = errors;
if (typeof data3.definition !== "string") {
validate54.errors = [{ instancePath: instancePath + "/grammar/definition", schemaPath: "GrammarToolFormat/properties/grammar/properties/definition/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid9 = _errs18 === errors;
} else {
var valid9 = true;
}
if (valid9) {
if (data3.syntax !== undefined) {
let data5 = data3.syntax;
const _errs20 = errors;
if (!(data5 === "lark" || data5 === "regex")) {
validate54.errors = [{ instancePath: instancePath + "/grammar/syntax", schemaPath: "GrammarToolFormat/properties/grammar/properties/syntax/enum", keyword: "enum", params: { allowedValues: schema71.properties.grammar.properties.syntax.enum } }];
return false;
}
var valid9 = _errs20 === errors;
} else {
var valid9 = true;
}
}
}
} else {
validate54.errors = [{ instancePath: instancePath + "/grammar", schemaPath: "GrammarToolFormat/properties/grammar/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid8 = _errs16 === errors;
} else {
var valid8 = true;
}
}
}
} else {
validate54.errors = [{ instancePath, schemaPath: "GrammarToolFormat/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.grammar = true;
}
} else {
validate54.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate54.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate54.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs5 === errors;
if (valid0) {
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
}
}
}
validate54.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate54.evaluated = { dynamicProps: true, dynamicItems: false };
function validate53(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate53.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type") || data.custom === undefined && (missing0 = "custom")) {
validate53.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs1 = errors;
if (data.type !== "custom") {
validate53.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/properties/type/const", keyword: "const", params: { allowedValue: "custom" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.custom !== undefined) {
let data1 = data.custom;
const _errs2 = errors;
if (errors === _errs2) {
if (data1 && typeof data1 == "object" && !Array.isArray(data1)) {
let missing1;
if (data1.name === undefined && (missing1 = "name")) {
validate53.errors = [{ instancePath: instancePath + "/custom", schemaPath: "#/properties/custom/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data1.name !== undefined) {
let data2 = data1.name;
const _errs4 = errors;
if (errors === _errs4) {
if (typeof data2 === "string") {
if (func2(data2) < 1) {
validate53.errors = [{ instancePath: instancePath + "/custom/name", schemaPath: "#/properties/custom/properties/name/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate53.errors = [{ instancePath: instancePath + "/custom/name", schemaPath: "#/properties/custom/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid1 = _errs4 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data1.description !== undefined) {
const _errs6 = errors;
if (typeof data1.description !== "string") {
validate53.errors = [{ instancePath: instancePath + "/custom/description", schemaPath: "#/properties/custom/properties/description/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid1 = _errs6 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data1.format !== undefined) {
const _errs8 = errors;
if (!validate54(data1.format, { instancePath: instancePath + "/custom/format", parentData: data1, parentDataProperty: "format", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate54.errors : vErrors.concat(validate54.errors);
errors = vErrors.length;
}
var valid1 = _errs8 === errors;
} else {
var valid1 = true;
}
}
}
}
} else {
validate53.errors = [{ instancePath: instancePath + "/custom", schemaPath: "#/properties/custom/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
}
}
} else {
validate53.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate53.errors = vErrors;
return errors === 0;
}
validate53.evaluated = { props: { type: true, custom: true }, dynamicProps: false, dynamicItems: false };
function validate51(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate51.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate51.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate51.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate51.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "function" || data0 === "custom")) {
validate51.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema65.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate51.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs1 === errors;
if (valid0) {
const _errs5 = errors;
if (errors === _errs5) {
if (data && typeof data == "object" && !Array.isArray(data)) {
const tag0 = data.type;
if (typeof tag0 == "string") {
if (tag0 === "function") {
if (!validate52(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate52.errors : vErrors.concat(validate52.errors);
errors = vErrors.length;
}
var props0 = {};
props0.type = true;
props0.function = true;
} else if (tag0 === "custom") {
if (!validate53(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate53.errors : vErrors.concat(validate53.errors);
errors = vErrors.length;
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.custom = true;
}
} else {
validate51.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate51.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate51.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs5 === errors;
if (valid0) {
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
}
}
}
validate51.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate51.evaluated = { dynamicProps: true, dynamicItems: false };
var validateErrorEnvelope = validate58;
var schema72 = { type: "object", required: ["error"], properties: { error: { type: "object", required: ["message", "type", "code", "param"], properties: { message: { type: "string" }, type: { enum: ["invalid_request_error", "authentication_error", "permission_error", "quota_exceeded", "rate_limit_error", "server_error"] }, code: { type: ["string", "null"] }, param: { type: ["string", "null"] }, job_id: { type: "string", format: "uuid" } } } } };
var formats2 = /^(?:urn:uuid:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
function validate58(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate58.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.error === undefined && (missing0 = "error")) {
validate58.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.error !== undefined) {
let data0 = data.error;
const _errs1 = errors;
if (errors === _errs1) {
if (data0 && typeof data0 == "object" && !Array.isArray(data0)) {
let missing1;
if (data0.message === undefined && (missing1 = "message") || data0.type === undefined && (missing1 = "type") || data0.code === undefined && (missing1 = "code") || data0.param === undefined && (missing1 = "param")) {
validate58.errors = [{ instancePath: instancePath + "/error", schemaPath: "#/properties/error/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data0.message !== undefined) {
const _errs3 = errors;
if (typeof data0.message !== "string") {
validate58.errors = [{ instancePath: instancePath + "/error/message", schemaPath: "#/properties/error/properties/message/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid1 = _errs3 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data0.type !== undefined) {
let data2 = data0.type;
const _errs5 = errors;
if (!(data2 === "invalid_request_error" || data2 === "authentication_error" || data2 === "permission_error" || data2 === "quota_exceeded" || data2 === "rate_limit_error" || data2 === "server_error")) {
validate58.errors = [{ instancePath: instancePath + "/error/type", schemaPath: "#/properties/error/properties/type/enum", keyword: "enum", params: { allowedValues: schema72.properties.error.properties.type.enum } }];
return false;
}
var valid1 = _errs5 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data0.code !== undefined) {
let data3 = data0.code;
const _errs6 = errors;
if (typeof data3 !== "string" && data3 !== null) {
validate58.errors = [{ instancePath: instancePath + "/error/code", schemaPath: "#/properties/error/properties/code/type", keyword: "type", params: { type: schema72.properties.error.properties.code.type } }];
return false;
}
var valid1 = _errs6 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data0.param !== undefined) {
let data4 = data0.param;
const _errs8 = errors;
if (typeof data4 !== "string" && data4 !== null) {
validate58.errors = [{ instancePath: instancePath + "/error/param", schemaPath: "#/properties/error/properties/param/type", keyword: "type", params: { type: schema72.properties.error.properties.param.type } }];
return false;
}
var valid1 = _errs8 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data0.job_id !== undefined) {
let data5 = data0.job_id;
const _errs10 = errors;
if (errors === _errs10) {
if (errors === _errs10) {
if (typeof data5 === "string") {
if (!formats2.test(data5)) {
validate58.errors = [{ instancePath: instancePath + "/error/job_id", schemaPath: "#/properties/error/properties/job_id/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate58.errors = [{ instancePath: instancePath + "/error/job_id", schemaPath: "#/properties/error/properties/job_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid1 = _errs10 === errors;
} else {
var valid1 = true;
}
}
}
}
}
}
} else {
validate58.errors = [{ instancePath: instancePath + "/error", schemaPath: "#/properties/error/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
}
}
} else {
validate58.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate58.errors = vErrors;
return errors === 0;
}
validate58.evaluated = { props: { error: true }, dynamicProps: false, dynamicItems: false };
var validateJobMessage = validate59;
var pattern10 = new RegExp("^[0-9]{1,19}$", "u");
function validate59(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate59.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
const _errs1 = errors;
let valid0 = true;
const _errs2 = errors;
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.request_ref === undefined && (missing0 = "request_ref")) {
const err0 = {};
if (vErrors === null) {
vErrors = [err0];
} else {
vErrors.push(err0);
}
errors++;
}
}
var _valid0 = _errs2 === errors;
errors = _errs1;
if (vErrors !== null) {
if (_errs1) {
vErrors.length = _errs1;
} else {
vErrors = null;
}
}
if (!_valid0) {
const _errs3 = errors;
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing1;
if (data.request === undefined && (missing1 = "request")) {
validate59.errors = [{ instancePath, schemaPath: "#/else/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
}
}
var _valid0 = _errs3 === errors;
valid0 = _valid0;
}
if (!valid0) {
const err1 = { instancePath, schemaPath: "#/if", keyword: "if", params: { failingKeyword: "else" } };
if (vErrors === null) {
vErrors = [err1];
} else {
vErrors.push(err1);
}
errors++;
validate59.errors = vErrors;
return false;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing2;
if (data.job_id === undefined && (missing2 = "job_id") || data.attempt === undefined && (missing2 = "attempt") || data.dispatch === undefined && (missing2 = "dispatch") || data.kind === undefined && (missing2 = "kind") || data.request_id === undefined && (missing2 = "request_id") || data.workspace_id === undefined && (missing2 = "workspace_id") || data.key_id === undefined && (missing2 = "key_id") || data.model === undefined && (missing2 = "model") || data.hold_nano === undefined && (missing2 = "hold_nano") || data.may_exceed === undefined && (missing2 = "may_exceed") || data.output_tokens_max === undefined && (missing2 = "output_tokens_max") || data.price === undefined && (missing2 = "price") || data.deadline_ms === undefined && (missing2 = "deadline_ms")) {
validate59.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data.job_id !== undefined) {
let data0 = data.job_id;
const _errs4 = errors;
if (errors === _errs4) {
if (errors === _errs4) {
if (typeof data0 === "string") {
if (!formats2.test(data0)) {
validate59.errors = [{ instancePath: instancePath + "/job_id", schemaPath: "#/properties/job_id/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate59.errors = [{ instancePath: instancePath + "/job_id", schemaPath: "#/properties/job_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid1 = _errs4 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.attempt !== undefined) {
let data1 = data.attempt;
const _errs6 = errors;
if (!(typeof data1 == "number" && (!(data1 % 1) && !isNaN(data1)) && isFinite(data1))) {
validate59.errors = [{ instancePath: instancePath + "/attempt", schemaPath: "#/properties/attempt/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs6) {
if (typeof data1 == "number" && isFinite(data1)) {
if (data1 > 32767 || isNaN(data1)) {
validate59.errors = [{ instancePath: instancePath + "/attempt", schemaPath: "#/properties/attempt/maximum", keyword: "maximum", params: { comparison: "<=", limit: 32767 } }];
return false;
} else {
if (data1 < 1 || isNaN(data1)) {
validate59.errors = [{ instancePath: instancePath + "/attempt", schemaPath: "#/properties/attempt/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid1 = _errs6 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.dispatch !== undefined) {
let data2 = data.dispatch;
const _errs8 = errors;
if (!(typeof data2 == "number" && (!(data2 % 1) && !isNaN(data2)) && isFinite(data2))) {
validate59.errors = [{ instancePath: instancePath + "/dispatch", schemaPath: "#/properties/dispatch/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs8) {
if (typeof data2 == "number" && isFinite(data2)) {
if (data2 < 1 || isNaN(data2)) {
validate59.errors = [{ instancePath: instancePath + "/dispatch", schemaPath: "#/properties/dispatch/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
var valid1 = _errs8 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.kind !== undefined) {
const _errs10 = errors;
if (data.kind !== "chat") {
validate59.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/const", keyword: "const", params: { allowedValue: "chat" } }];
return false;
}
var valid1 = _errs10 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.request_id !== undefined) {
const _errs11 = errors;
if (typeof data.request_id !== "string") {
validate59.errors = [{ instancePath: instancePath + "/request_id", schemaPath: "#/properties/request_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid1 = _errs11 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.workspace_id !== undefined) {
let data5 = data.workspace_id;
const _errs13 = errors;
if (errors === _errs13) {
if (errors === _errs13) {
if (typeof data5 === "string") {
if (!formats2.test(data5)) {
validate59.errors = [{ instancePath: instancePath + "/workspace_id", schemaPath: "#/properties/workspace_id/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate59.errors = [{ instancePath: instancePath + "/workspace_id", schemaPath: "#/properties/workspace_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid1 = _errs13 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.key_id !== undefined) {
let data6 = data.key_id;
const _errs15 = errors;
if (errors === _errs15) {
if (errors === _errs15) {
if (typeof data6 === "string") {
if (!formats2.test(data6)) {
validate59.errors = [{ instancePath: instancePath + "/key_id", schemaPath: "#/properties/key_id/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate59.errors = [{ instancePath: instancePath + "/key_id", schemaPath: "#/properties/key_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid1 = _errs15 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.model !== undefined) {
let data7 = data.model;
const _errs17 = errors;
if (errors === _errs17) {
if (typeof data7 === "string") {
if (func2(data7) < 1) {
validate59.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate59.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid1 = _errs17 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.hold_nano !== undefined) {
let data8 = data.hold_nano;
const _errs19 = errors;
if (errors === _errs19) {
if (typeof data8 === "string") {
if (!pattern10.test(data8)) {
validate59.errors = [{ instancePath: instancePath + "/hold_nano", schemaPath: "#/properties/hold_nano/pattern", keyword: "pattern", params: { pattern: "^[0-9]{1,19}$" } }];
return false;
}
} else {
validate59.errors = [{ instancePath: instancePath + "/hold_nano", schemaPath: "#/properties/hold_nano/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid1 = _errs19 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.may_exceed !== undefined) {
const _errs21 = errors;
if (typeof data.may_exceed !== "boolean") {
validate59.errors = [{ instancePath: instancePath + "/may_exceed", schemaPath: "#/properties/may_exceed/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid1 = _errs21 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.output_tokens_max !== undefined) {
let data10 = data.output_tokens_max;
const _errs23 = errors;
if (!(typeof data10 == "number" && (!(data10 % 1) && !isNaN(data10)) && isFinite(data10))) {
validate59.errors = [{ instancePath: instancePath + "/output_tokens_max", schemaPath: "#/properties/output_tokens_max/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs23) {
if (typeof data10 == "number" && isFinite(data10)) {
if (data10 < 1 || isNaN(data10)) {
validate59.errors = [{ instancePath: instancePath + "/output_tokens_max", schemaPath: "#/properties/output_tokens_max/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
var valid1 = _errs23 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.price !== undefined) {
let data11 = data.price;
const _errs25 = errors;
if (!(data11 && typeof data11 == "object" && !Array.isArray(data11))) {
validate59.errors = [{ instancePath: instancePath + "/price", schemaPath: "#/properties/price/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid1 = _errs25 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.deadline_ms !== undefined) {
let data12 = data.deadline_ms;
const _errs27 = errors;
if (!(typeof data12 == "number" && (!(data12 % 1) && !isNaN(data12)) && isFinite(data12))) {
validate59.errors = [{ instancePath: instancePath + "/deadline_ms", schemaPath: "#/properties/deadline_ms/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs27) {
if (typeof data12 == "number" && isFinite(data12)) {
if (data12 < 0 || isNaN(data12)) {
validate59.errors = [{ instancePath: instancePath + "/deadline_ms", schemaPath: "#/properties/deadline_ms/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid1 = _errs27 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.request !== undefined) {
let data13 = data.request;
const _errs29 = errors;
if (!(data13 && typeof data13 == "object" && !Array.isArray(data13))) {
validate59.errors = [{ instancePath: instancePath + "/request", schemaPath: "#/properties/request/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid1 = _errs29 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.request_ref !== undefined) {
let data14 = data.request_ref;
const _errs31 = errors;
if (errors === _errs31) {
if (typeof data14 === "string") {
if (func2(data14) < 1) {
validate59.errors = [{ instancePath: instancePath + "/request_ref", schemaPath: "#/properties/request_ref/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate59.errors = [{ instancePath: instancePath + "/request_ref", schemaPath: "#/properties/request_ref/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid1 = _errs31 === errors;
} else {
var valid1 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
} else {
validate59.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate59.errors = vErrors;
return errors === 0;
}
validate59.evaluated = { props: { job_id: true, attempt: true, dispatch: true, kind: true, request_id: true, workspace_id: true, key_id: true, model: true, hold_nano: true, may_exceed: true, output_tokens_max: true, price: true, deadline_ms: true, request: true, request_ref: true }, dynamicProps: false, dynamicItems: false };
var validateModelEntry = validate60;
var schema74 = { type: "object", required: ["id", "object", "created", "owned_by", "permission", "root", "parent", "_svc"], properties: { id: { type: "string" }, object: { const: "model" }, created: { type: "integer", minimum: 0 }, owned_by: { type: "string" }, permission: { type: "array", items: {} }, root: { type: "string" }, parent: { type: ["string", "null"] }, _svc: { type: "object", required: ["modality", "supports_chat", "supports_embeddings", "supports_streaming", "supports_tools", "max_context_tokens", "max_output_tokens", "pricing", "allowed_params"], properties: { modality: { $ref: "Modality" }, supports_chat: { type: "boolean" }, supports_embeddings: { type: "boolean" }, supports_streaming: { type: "boolean" }, supports_tools: { type: "boolean" }, max_context_tokens: { type: "integer", minimum: 0 }, max_output_tokens: { type: "integer", minimum: 0 }, pricing: { $ref: "Pricing" }, allowed_params: { $ref: "AllowedParams" } } } } };
var pattern11 = new RegExp("^(currency|unit|[a-z0-9_]+_per_million)$", "u");
function validate61(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate61.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
const _errs1 = errors;
let valid0 = true;
const _errs2 = errors;
if (data && typeof data == "object" && !Array.isArray(data)) {
if (data.unit !== undefined) {
if (data.unit !== "per_token") {
const err0 = {};
if (vErrors === null) {
vErrors = [err0];
} else {
vErrors.push(err0);
}
errors++;
}
}
}
var _valid0 = _errs2 === errors;
errors = _errs1;
if (vErrors !== null) {
if (_errs1) {
vErrors.length = _errs1;
} else {
vErrors = null;
}
}
let ifClause0;
if (_valid0) {
const _errs4 = errors;
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.input_per_million === undefined && (missing0 = "input_per_million")) {
validate61.errors = [{ instancePath, schemaPath: "#/then/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
for (const key0 in data) {
const _errs5 = errors;
if (typeof key0 === "string") {
if (!pattern11.test(key0)) {
const err1 = { instancePath, schemaPath: "#/then/propertyNames/pattern", keyword: "pattern", params: { pattern: "^(currency|unit|[a-z0-9_]+_per_million)$" }, propertyName: key0 };
if (vErrors === null) {
vErrors = [err1];
} else {
vErrors.push(err1);
}
errors++;
}
}
var valid2 = _errs5 === errors;
if (!valid2) {
const err2 = { instancePath, schemaPath: "#/then/propertyNames", keyword: "propertyNames", params: { propertyName: key0 } };
if (vErrors === null) {
vErrors = [err2];
} else {
vErrors.push(err2);
}
errors++;
validate61.errors = vErrors;
return false;
break;
}
}
}
}
var _valid0 = _errs4 === errors;
valid0 = _valid0;
ifClause0 = "then";
} else {
const _errs6 = errors;
const _errs7 = errors;
let valid3 = false;
let passing0 = null;
const _errs8 = errors;
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing1;
if (data.request_price === undefined && (missing1 = "request_price")) {
const err3 = { instancePath, schemaPath: "#/else/oneOf/0/required", keyword: "required", params: { missingProperty: missing1 } };
if (vErrors === null) {
vErrors = [err3];
} else {
vErrors.push(err3);
}
errors++;
} else {
if (data.unit !== undefined) {
if (data.unit !== "per_request") {
const err4 = { instancePath: instancePath + "/unit", schemaPath: "#/else/oneOf/0/properties/unit/const", keyword: "const", params: { allowedValue: "per_request" } };
if (vErrors === null) {
vErrors = [err4];
} else {
vErrors.push(err4);
}
errors++;
}
}
}
}
var _valid1 = _errs8 === errors;
if (_valid1) {
valid3 = true;
passing0 = 0;
var props0 = {};
props0.unit = true;
}
const _errs10 = errors;
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing2;
if (data.image_price === undefined && (missing2 = "image_price")) {
const err5 = { instancePath, schemaPath: "#/else/oneOf/1/required", keyword: "required", params: { missingProperty: missing2 } };
if (vErrors === null) {
vErrors = [err5];
} else {
vErrors.push(err5);
}
errors++;
} else {
if (data.unit !== undefined) {
if (data.unit !== "per_image") {
const err6 = { instancePath: instancePath + "/unit", schemaPath: "#/else/oneOf/1/properties/unit/const", keyword: "const", params: { allowedValue: "per_image" } };
if (vErrors === null) {
vErrors = [err6];
} else {
vErrors.push(err6);
}
errors++;
}
}
}
}
var _valid1 = _errs10 === errors;
if (_valid1 && valid3) {
valid3 = false;
passing0 = [passing0, 1];
} else {
if (_valid1) {
valid3 = true;
passing0 = 1;
if (props0 !== true) {
props0 = props0 || {};
props0.unit = true;
}
}
const _errs12 = errors;
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing3;
if (data.second_price === undefined && (missing3 = "second_price")) {
const err7 = { instancePath, schemaPath: "#/else/oneOf/2/required", keyword: "required", params: { missingProperty: missing3 } };
if (vErrors === null) {
vErrors = [err7];
} else {
vErrors.push(err7);
}
errors++;
} else {
if (data.unit !== undefined) {
if (data.unit !== "per_second") {
const err8 = { instancePath: instancePath + "/unit", schemaPath: "#/else/oneOf/2/properties/unit/const", keyword: "const", params: { allowedValue: "per_second" } };
if (vErrors === null) {
vErrors = [err8];
} else {
vErrors.push(err8);
}
errors++;
}
}
}
}
var _valid1 = _errs12 === errors;
if (_valid1 && valid3) {
valid3 = false;
passing0 = [passing0, 2];
} else {
if (_valid1) {
valid3 = true;
passing0 = 2;
if (props0 !== true) {
props0 = props0 || {};
props0.unit = true;
}
}
const _errs14 = errors;
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing4;
if (data.minute_price === undefined && (missing4 = "minute_price")) {
const err9 = { instancePath, schemaPath: "#/else/oneOf/3/required", keyword: "required", params: { missingProperty: missing4 } };
if (vErrors === null) {
vErrors = [err9];
} else {
vErrors.push(err9);
}
errors++;
} else {
if (data.unit !== undefined) {
if (data.unit !== "per_minute") {
const err10 = { instancePath: instancePath + "/unit", schemaPath: "#/else/oneOf/3/properties/unit/const", keyword: "const", params: { allowedValue: "per_minute" } };
if (vErrors === null) {
vErrors = [err10];
} else {
vErrors.push(err10);
}
errors++;
}
}
}
}
var _valid1 = _errs14 === errors;
if (_valid1 && valid3) {
valid3 = false;
passing0 = [passing0, 3];
} else {
if (_valid1) {
valid3 = true;
passing0 = 3;
if (props0 !== true) {
props0 = props0 || {};
props0.unit = true;
}
}
const _errs16 = errors;
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing5;
if (data.character_price === undefined && (missing5 = "character_price")) {
const err11 = { instancePath, schemaPath: "#/else/oneOf/4/required", keyword: "required", params: { missingProperty: missing5 } };
if (vErrors === null) {
vErrors = [err11];
} else {
vErrors.push(err11);
}
errors++;
} else {
if (data.unit !== undefined) {
if (data.unit !== "per_character") {
const err12 = { instancePath: instancePath + "/unit", schemaPath: "#/else/oneOf/4/properties/unit/const", keyword: "const", params: { allowedValue: "per_character" } };
if (vErrors === null) {
vErrors = [err12];
} else {
vErrors.push(err12);
}
errors++;
}
}
}
}
var _valid1 = _errs16 === errors;
if (_valid1 && valid3) {
valid3 = false;
passing0 = [passing0, 4];
} else {
if (_valid1) {
valid3 = true;
passing0 = 4;
if (props0 !== true) {
props0 = props0 || {};
props0.unit = true;
}
}
const _errs18 = errors;
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing6;
if (data.operation_price === undefined && (missing6 = "operation_price")) {
const err13 = { instancePath, schemaPath: "#/else/oneOf/5/required", keyword: "required", params: { missingProperty: missing6 } };
if (vErrors === null) {
vErrors = [err13];
} else {
vErrors.push(err13);
}
errors++;
} else {
if (data.unit !== undefined) {
if (data.unit !== "per_operation") {
const err14 = { instancePath: instancePath + "/unit", schemaPath: "#/else/oneOf/5/properties/unit/const", keyword: "const", params: { allowedValue: "per_operation" } };
if (vErrors === null) {
vErrors = [err14];
} else {
vErrors.push(err14);
}
errors++;
}
}
}
}
var _valid1 = _errs18 === errors;
if (_valid1 && valid3) {
valid3 = false;
passing0 = [passing0, 5];
} else {
if (_valid1) {
valid3 = true;
passing0 = 5;
if (props0 !== true) {
props0 = props0 || {};
props0.unit = true;
}
}
const _errs20 = errors;
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing7;
if (data.megapixel_price === undefined && (missing7 = "megapixel_price")) {
const err15 = { instancePath, schemaPath: "#/else/oneOf/6/required", keyword: "required", params: { missingProperty: missing7 } };
if (vErrors === null) {
vErrors = [err15];
} else {
vErrors.push(err15);
}
errors++;
} else {
if (data.unit !== undefined) {
if (data.unit !== "per_megapixel") {
const err16 = { instancePath: instancePath + "/unit", schemaPath: "#/else/oneOf/6/properties/unit/const", keyword: "const", params: { allowedValue: "per_megapixel" } };
if (vErrors === null) {
vErrors = [err16];
} else {
vErrors.push(err16);
}
errors++;
}
}
}
}
var _valid1 = _errs20 === errors;
if (_valid1 && valid3) {
valid3 = false;
passing0 = [passing0, 6];
} else {
if (_valid1) {
valid3 = true;
passing0 = 6;
if (props0 !== true) {
props0 = props0 || {};
props0.unit = true;
}
}
}
}
}
}
}
}
if (!valid3) {
const err17 = { instancePath, schemaPath: "#/else/oneOf", keyword: "oneOf", params: { passingSchemas: passing0 } };
if (vErrors === null) {
vErrors = [err17];
} else {
vErrors.push(err17);
}
errors++;
validate61.errors = vErrors;
return false;
} else {
errors = _errs7;
if (vErrors !== null) {
if (_errs7) {
vErrors.length = _errs7;
} else {
vErrors = null;
}
}
}
if (errors === _errs6) {
if (data && typeof data == "object" && !Array.isArray(data)) {
if (Object.keys(data).length > 3) {
validate61.errors = [{ instancePath, schemaPath: "#/else/maxProperties", keyword: "maxProperties", params: { limit: 3 } }];
return false;
}
}
}
var _valid0 = _errs6 === errors;
valid0 = _valid0;
if (valid0) {
if (props0 !== true) {
props0 = props0 || {};
props0.unit = true;
}
}
ifClause0 = "else";
}
if (!valid0) {
const err18 = { instancePath, schemaPath: "#/if", keyword: "if", params: { failingKeyword: ifClause0 } };
if (vErrors === null) {
vErrors = [err18];
} else {
vErrors.push(err18);
}
errors++;
validate61.errors = vErrors;
return false;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing8;
if (data.currency === undefined && (missing8 = "currency") || data.unit === undefined && (missing8 = "unit")) {
validate61.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing8 } }];
return false;
} else {
if (props0 !== true) {
props0 = props0 || {};
props0.currency = true;
props0.unit = true;
props0.input_per_million = true;
props0.output_per_million = true;
props0.audio_input_per_million = true;
props0.audio_output_per_million = true;
props0.image_input_per_million = true;
props0.image_output_per_million = true;
props0.cached_input_per_million = true;
props0.cache_write_per_million = true;
props0.cache_write_1h_per_million = true;
props0.request_price = true;
props0.image_price = true;
props0.second_price = true;
props0.minute_price = true;
props0.character_price = true;
props0.operation_price = true;
props0.megapixel_price = true;
}
if (data.currency !== undefined) {
const _errs22 = errors;
if (data.currency !== "credits") {
validate61.errors = [{ instancePath: instancePath + "/currency", schemaPath: "#/properties/currency/const", keyword: "const", params: { allowedValue: "credits" } }];
return false;
}
var valid11 = _errs22 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data.unit !== undefined) {
let data9 = data.unit;
const _errs23 = errors;
if (typeof data9 !== "string") {
validate61.errors = [{ instancePath: instancePath + "/unit", schemaPath: "PriceUnit/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data9 === "per_token" || data9 === "per_request" || data9 === "per_image" || data9 === "per_second" || data9 === "per_minute" || data9 === "per_character" || data9 === "per_operation" || data9 === "per_megapixel")) {
validate61.errors = [{ instancePath: instancePath + "/unit", schemaPath: "PriceUnit/enum", keyword: "enum", params: { allowedValues: schema38.enum } }];
return false;
}
var valid11 = _errs23 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data.input_per_million !== undefined) {
let data10 = data.input_per_million;
const _errs26 = errors;
if (errors === _errs26) {
if (typeof data10 == "number" && isFinite(data10)) {
if (data10 < 0 || isNaN(data10)) {
validate61.errors = [{ instancePath: instancePath + "/input_per_million", schemaPath: "#/properties/input_per_million/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate61.errors = [{ instancePath: instancePath + "/input_per_million", schemaPath: "#/properties/input_per_million/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid11 = _errs26 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data.output_per_million !== undefined) {
let data11 = data.output_per_million;
const _errs28 = errors;
if (errors === _errs28) {
if (typeof data11 == "number" && isFinite(data11)) {
if (data11 < 0 || isNaN(data11)) {
validate61.errors = [{ instancePath: instancePath + "/output_per_million", schemaPath: "#/properties/output_per_million/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate61.errors = [{ instancePath: instancePath + "/output_per_million", schemaPath: "#/properties/output_per_million/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid11 = _errs28 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data.audio_input_per_million !== undefined) {
let data12 = data.audio_input_per_million;
const _errs30 = errors;
if (errors === _errs30) {
if (typeof data12 == "number" && isFinite(data12)) {
if (data12 < 0 || isNaN(data12)) {
validate61.errors = [{ instancePath: instancePath + "/audio_input_per_million", schemaPath: "#/properties/audio_input_per_million/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate61.errors = [{ instancePath: instancePath + "/audio_input_per_million", schemaPath: "#/properties/audio_input_per_million/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid11 = _errs30 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data.audio_output_per_million !== undefined) {
let data13 = data.audio_output_per_million;
const _errs32 = errors;
if (errors === _errs32) {
if (typeof data13 == "number" && isFinite(data13)) {
if (data13 < 0 || isNaN(data13)) {
validate61.errors = [{ instancePath: instancePath + "/audio_output_per_million", schemaPath: "#/properties/audio_output_per_million/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate61.errors = [{ instancePath: instancePath + "/audio_output_per_million", schemaPath: "#/properties/audio_output_per_million/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid11 = _errs32 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data.image_input_per_million !== undefined) {
let data14 = data.image_input_per_million;
const _errs34 = errors;
if (errors === _errs34) {
if (typeof data14 == "number" && isFinite(data14)) {
if (data14 < 0 || isNaN(data14)) {
validate61.errors = [{ instancePath: instancePath + "/image_input_per_million", schemaPath: "#/properties/image_input_per_million/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate61.errors = [{ instancePath: instancePath + "/image_input_per_million", schemaPath: "#/properties/image_input_per_million/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid11 = _errs34 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data.image_output_per_million !== undefined) {
let data15 = data.image_output_per_million;
const _errs36 = errors;
if (errors === _errs36) {
if (typeof data15 == "number" && isFinite(data15)) {
if (data15 < 0 || isNaN(data15)) {
validate61.errors = [{ instancePath: instancePath + "/image_output_per_million", schemaPath: "#/properties/image_output_per_million/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate61.errors = [{ instancePath: instancePath + "/image_output_per_million", schemaPath: "#/properties/image_output_per_million/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid11 = _errs36 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data.cached_input_per_million !== undefined) {
let data16 = data.cached_input_per_million;
const _errs38 = errors;
if (errors === _errs38) {
if (typeof data16 == "number" && isFinite(data16)) {
if (data16 < 0 || isNaN(data16)) {
validate61.errors = [{ instancePath: instancePath + "/cached_input_per_million", schemaPath: "#/properties/cached_input_per_million/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate61.errors = [{ instancePath: instancePath + "/cached_input_per_million", schemaPath: "#/properties/cached_input_per_million/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid11 = _errs38 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data.cache_write_per_million !== undefined) {
let data17 = data.cache_write_per_million;
const _errs40 = errors;
if (errors === _errs40) {
if (typeof data17 == "number" && isFinite(data17)) {
if (data17 < 0 || isNaN(data17)) {
validate61.errors = [{ instancePath: instancePath + "/cache_write_per_million", schemaPath: "#/properties/cache_write_per_million/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate61.errors = [{ instancePath: instancePath + "/cache_write_per_million", schemaPath: "#/properties/cache_write_per_million/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid11 = _errs40 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data.cache_write_1h_per_million !== undefined) {
let data18 = data.cache_write_1h_per_million;
const _errs42 = errors;
if (errors === _errs42) {
if (typeof data18 == "number" && isFinite(data18)) {
if (data18 < 0 || isNaN(data18)) {
validate61.errors = [{ instancePath: instancePath + "/cache_write_1h_per_million", schemaPath: "#/properties/cache_write_1h_per_million/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate61.errors = [{ instancePath: instancePath + "/cache_write_1h_per_million", schemaPath: "#/properties/cache_write_1h_per_million/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid11 = _errs42 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data.request_price !== undefined) {
let data19 = data.request_price;
const _errs44 = errors;
if (errors === _errs44) {
if (typeof data19 == "number" && isFinite(data19)) {
if (data19 < 0 || isNaN(data19)) {
validate61.errors = [{ instancePath: instancePath + "/request_price", schemaPath: "#/properties/request_price/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate61.errors = [{ instancePath: instancePath + "/request_price", schemaPath: "#/properties/request_price/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid11 = _errs44 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data.image_price !== undefined) {
let data20 = data.image_price;
const _errs46 = errors;
if (errors === _errs46) {
if (typeof data20 == "number" && isFinite(data20)) {
if (data20 < 0 || isNaN(data20)) {
validate61.errors = [{ instancePath: instancePath + "/image_price", schemaPath: "#/properties/image_price/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate61.errors = [{ instancePath: instancePath + "/image_price", schemaPath: "#/properties/image_price/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid11 = _errs46 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data.second_price !== undefined) {
let data21 = data.second_price;
const _errs48 = errors;
if (errors === _errs48) {
if (typeof data21 == "number" && isFinite(data21)) {
if (data21 < 0 || isNaN(data21)) {
validate61.errors = [{ instancePath: instancePath + "/second_price", schemaPath: "#/properties/second_price/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate61.errors = [{ instancePath: instancePath + "/second_price", schemaPath: "#/properties/second_price/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid11 = _errs48 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data.minute_price !== undefined) {
let data22 = data.minute_price;
const _errs50 = errors;
if (errors === _errs50) {
if (typeof data22 == "number" && isFinite(data22)) {
if (data22 < 0 || isNaN(data22)) {
validate61.errors = [{ instancePath: instancePath + "/minute_price", schemaPath: "#/properties/minute_price/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate61.errors = [{ instancePath: instancePath + "/minute_price", schemaPath: "#/properties/minute_price/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid11 = _errs50 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data.character_price !== undefined) {
let data23 = data.character_price;
const _errs52 = errors;
if (errors === _errs52) {
if (typeof data23 == "number" && isFinite(data23)) {
if (data23 < 0 || isNaN(data23)) {
validate61.errors = [{ instancePath: instancePath + "/character_price", schemaPath: "#/properties/character_price/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate61.errors = [{ instancePath: instancePath + "/character_price", schemaPath: "#/properties/character_price/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid11 = _errs52 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data.operation_price !== undefined) {
let data24 = data.operation_price;
const _errs54 = errors;
if (errors === _errs54) {
if (typeof data24 == "number" && isFinite(data24)) {
if (data24 < 0 || isNaN(data24)) {
validate61.errors = [{ instancePath: instancePath + "/operation_price", schemaPath: "#/properties/operation_price/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate61.errors = [{ instancePath: instancePath + "/operation_price", schemaPath: "#/properties/operation_price/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid11 = _errs54 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data.megapixel_price !== undefined) {
let data25 = data.megapixel_price;
const _errs56 = errors;
if (errors === _errs56) {
if (typeof data25 == "number" && isFinite(data25)) {
if (data25 < 0 || isNaN(data25)) {
validate61.errors = [{ instancePath: instancePath + "/megapixel_price", schemaPath: "#/properties/megapixel_price/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate61.errors = [{ instancePath: instancePath + "/megapixel_price", schemaPath: "#/properties/megapixel_price/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid11 = _errs56 === errors;
} else {
var valid11 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
} else {
validate61.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate61.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate61.evaluated = { dynamicProps: true, dynamicItems: false };
function validate60(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate60.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.id === undefined && (missing0 = "id") || data.object === undefined && (missing0 = "object") || data.created === undefined && (missing0 = "created") || data.owned_by === undefined && (missing0 = "owned_by") || data.permission === undefined && (missing0 = "permission") || data.root === undefined && (missing0 = "root") || data.parent === undefined && (missing0 = "parent") || data._svc === undefined && (missing0 = "_svc")) {
validate60.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.id !== undefined) {
const _errs1 = errors;
if (typeof data.id !== "string") {
validate60.errors = [{ instancePath: instancePath + "/id", schemaPath: "#/properties/id/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.object !== undefined) {
const _errs3 = errors;
if (data.object !== "model") {
validate60.errors = [{ instancePath: instancePath + "/object", schemaPath: "#/properties/object/const", keyword: "const", params: { allowedValue: "model" } }];
return false;
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.created !== undefined) {
let data2 = data.created;
const _errs4 = errors;
if (!(typeof data2 == "number" && (!(data2 % 1) && !isNaN(data2)) && isFinite(data2))) {
validate60.errors = [{ instancePath: instancePath + "/created", schemaPath: "#/properties/created/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs4) {
if (typeof data2 == "number" && isFinite(data2)) {
if (data2 < 0 || isNaN(data2)) {
validate60.errors = [{ instancePath: instancePath + "/created", schemaPath: "#/properties/created/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.owned_by !== undefined) {
const _errs6 = errors;
if (typeof data.owned_by !== "string") {
validate60.errors = [{ instancePath: instancePath + "/owned_by", schemaPath: "#/properties/owned_by/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs6 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.permission !== undefined) {
const _errs8 = errors;
if (errors === _errs8) {
if (!Array.isArray(data.permission)) {
validate60.errors = [{ instancePath: instancePath + "/permission", schemaPath: "#/properties/permission/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs8 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.root !== undefined) {
const _errs10 = errors;
if (typeof data.root !== "string") {
validate60.errors = [{ instancePath: instancePath + "/root", schemaPath: "#/properties/root/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs10 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.parent !== undefined) {
let data6 = data.parent;
const _errs12 = errors;
if (typeof data6 !== "string" && data6 !== null) {
validate60.errors = [{ instancePath: instancePath + "/parent", schemaPath: "#/properties/parent/type", keyword: "type", params: { type: schema74.properties.parent.type } }];
return false;
}
var valid0 = _errs12 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data._svc !== undefined) {
let data7 = data._svc;
const _errs14 = errors;
if (errors === _errs14) {
if (data7 && typeof data7 == "object" && !Array.isArray(data7)) {
let missing1;
if (data7.modality === undefined && (missing1 = "modality") || data7.supports_chat === undefined && (missing1 = "supports_chat") || data7.supports_embeddings === undefined && (missing1 = "supports_embeddings") || data7.supports_streaming === undefined && (missing1 = "supports_streaming") || data7.supports_tools === undefined && (missing1 = "supports_tools") || data7.max_context_tokens === undefined && (missing1 = "max_context_tokens") || data7.max_output_tokens === undefined && (missing1 = "max_output_tokens") || data7.pricing === undefined && (missing1 = "pricing") || data7.allowed_params === undefined && (missing1 = "allowed_params")) {
validate60.errors = [{ instancePath: instancePath + "/_svc", schemaPath: "#/properties/_svc/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data7.modality !== undefined) {
let data8 = data7.modality;
const _errs16 = errors;
if (typeof data8 !== "string") {
validate60.errors = [{ instancePath: instancePath + "/_svc/modality", schemaPath: "Modality/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data8 === "text" || data8 === "image" || data8 === "audio" || data8 === "stt" || data8 === "video" || data8 === "music" || data8 === "embedding" || data8 === "upscale" || data8 === "vision" || data8 === "object_3d")) {
validate60.errors = [{ instancePath: instancePath + "/_svc/modality", schemaPath: "Modality/enum", keyword: "enum", params: { allowedValues: schema36.enum } }];
return false;
}
var valid1 = _errs16 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data7.supports_chat !== undefined) {
const _errs19 = errors;
if (typeof data7.supports_chat !== "boolean") {
validate60.errors = [{ instancePath: instancePath + "/_svc/supports_chat", schemaPath: "#/properties/_svc/properties/supports_chat/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid1 = _errs19 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data7.supports_embeddings !== undefined) {
const _errs21 = errors;
if (typeof data7.supports_embeddings !== "boolean") {
validate60.errors = [{ instancePath: instancePath + "/_svc/supports_embeddings", schemaPath: "#/properties/_svc/properties/supports_embeddings/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid1 = _errs21 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data7.supports_streaming !== undefined) {
const _errs23 = errors;
if (typeof data7.supports_streaming !== "boolean") {
validate60.errors = [{ instancePath: instancePath + "/_svc/supports_streaming", schemaPath: "#/properties/_svc/properties/supports_streaming/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid1 = _errs23 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data7.supports_tools !== undefined) {
const _errs25 = errors;
if (typeof data7.supports_tools !== "boolean") {
validate60.errors = [{ instancePath: instancePath + "/_svc/supports_tools", schemaPath: "#/properties/_svc/properties/supports_tools/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid1 = _errs25 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data7.max_context_tokens !== undefined) {
let data13 = data7.max_context_tokens;
const _errs27 = errors;
if (!(typeof data13 == "number" && (!(data13 % 1) && !isNaN(data13)) && isFinite(data13))) {
validate60.errors = [{ instancePath: instancePath + "/_svc/max_context_tokens", schemaPath: "#/properties/_svc/properties/max_context_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs27) {
if (typeof data13 == "number" && isFinite(data13)) {
if (data13 < 0 || isNaN(data13)) {
validate60.errors = [{ instancePath: instancePath + "/_svc/max_context_tokens", schemaPath: "#/properties/_svc/properties/max_context_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid1 = _errs27 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data7.max_output_tokens !== undefined) {
let data14 = data7.max_output_tokens;
const _errs29 = errors;
if (!(typeof data14 == "number" && (!(data14 % 1) && !isNaN(data14)) && isFinite(data14))) {
validate60.errors = [{ instancePath: instancePath + "/_svc/max_output_tokens", schemaPath: "#/properties/_svc/properties/max_output_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs29) {
if (typeof data14 == "number" && isFinite(data14)) {
if (data14 < 0 || isNaN(data14)) {
validate60.errors = [{ instancePath: instancePath + "/_svc/max_output_tokens", schemaPath: "#/properties/_svc/properties/max_output_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid1 = _errs29 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data7.pricing !== undefined) {
const _errs31 = errors;
if (!validate61(data7.pricing, { instancePath: instancePath + "/_svc/pricing", parentData: data7, parentDataProperty: "pricing", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate61.errors : vErrors.concat(validate61.errors);
errors = vErrors.length;
}
var valid1 = _errs31 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data7.allowed_params !== undefined) {
let data16 = data7.allowed_params;
const _errs32 = errors;
const _errs33 = errors;
if (errors === _errs33) {
if (data16 && typeof data16 == "object" && !Array.isArray(data16)) {
const _errs35 = errors;
for (const key0 in data16) {
if (!func1.call(schema31.properties, key0)) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params", schemaPath: "AllowedParams/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } }];
return false;
break;
}
}
if (_errs35 === errors) {
if (data16.max_n !== undefined) {
let data17 = data16.max_n;
const _errs36 = errors;
if (!(typeof data17 == "number" && (!(data17 % 1) && !isNaN(data17)) && isFinite(data17))) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_n", schemaPath: "AllowedParams/properties/max_n/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs36) {
if (typeof data17 == "number" && isFinite(data17)) {
if (data17 < 1 || isNaN(data17)) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_n", schemaPath: "AllowedParams/properties/max_n/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
var valid4 = _errs36 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.aspect_ratios !== undefined) {
let data18 = data16.aspect_ratios;
const _errs38 = errors;
if (errors === _errs38) {
if (Array.isArray(data18)) {
var valid5 = true;
const len0 = data18.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs40 = errors;
if (typeof data18[i0] !== "string") {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/aspect_ratios/" + i0, schemaPath: "AllowedParams/properties/aspect_ratios/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid5 = _errs40 === errors;
if (!valid5) {
break;
}
}
} else {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/aspect_ratios", schemaPath: "AllowedParams/properties/aspect_ratios/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid4 = _errs38 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.image_sizes !== undefined) {
let data20 = data16.image_sizes;
const _errs42 = errors;
if (errors === _errs42) {
if (Array.isArray(data20)) {
var valid6 = true;
const len1 = data20.length;
for (let i1 = 0;i1 < len1; i1++) {
const _errs44 = errors;
if (typeof data20[i1] !== "string") {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/image_sizes/" + i1, schemaPath: "AllowedParams/properties/image_sizes/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid6 = _errs44 === errors;
if (!valid6) {
break;
}
}
} else {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/image_sizes", schemaPath: "AllowedParams/properties/image_sizes/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid4 = _errs42 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.sizes !== undefined) {
let data22 = data16.sizes;
const _errs46 = errors;
if (errors === _errs46) {
if (Array.isArray(data22)) {
var valid7 = true;
const len2 = data22.length;
for (let i2 = 0;i2 < len2; i2++) {
const _errs48 = errors;
if (typeof data22[i2] !== "string") {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/sizes/" + i2, schemaPath: "AllowedParams/properties/sizes/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid7 = _errs48 === errors;
if (!valid7) {
break;
}
}
} else {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/sizes", schemaPath: "AllowedParams/properties/sizes/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid4 = _errs46 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.resolutions !== undefined) {
let data24 = data16.resolutions;
const _errs50 = errors;
if (errors === _errs50) {
if (Array.isArray(data24)) {
var valid8 = true;
const len3 = data24.length;
for (let i3 = 0;i3 < len3; i3++) {
const _errs52 = errors;
if (typeof data24[i3] !== "string") {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/resolutions/" + i3, schemaPath: "AllowedParams/properties/resolutions/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid8 = _errs52 === errors;
if (!valid8) {
break;
}
}
} else {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/resolutions", schemaPath: "AllowedParams/properties/resolutions/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid4 = _errs50 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.qualities !== undefined) {
let data26 = data16.qualities;
const _errs54 = errors;
if (errors === _errs54) {
if (Array.isArray(data26)) {
var valid9 = true;
const len4 = data26.length;
for (let i4 = 0;i4 < len4; i4++) {
const _errs56 = errors;
if (typeof data26[i4] !== "string") {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/qualities/" + i4, schemaPath: "AllowedParams/properties/qualities/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid9 = _errs56 === errors;
if (!valid9) {
break;
}
}
} else {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/qualities", schemaPath: "AllowedParams/properties/qualities/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid4 = _errs54 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.styles !== undefined) {
let data28 = data16.styles;
const _errs58 = errors;
if (errors === _errs58) {
if (Array.isArray(data28)) {
var valid10 = true;
const len5 = data28.length;
for (let i5 = 0;i5 < len5; i5++) {
const _errs60 = errors;
if (typeof data28[i5] !== "string") {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/styles/" + i5, schemaPath: "AllowedParams/properties/styles/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid10 = _errs60 === errors;
if (!valid10) {
break;
}
}
} else {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/styles", schemaPath: "AllowedParams/properties/styles/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid4 = _errs58 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.background !== undefined) {
let data30 = data16.background;
const _errs62 = errors;
if (errors === _errs62) {
if (Array.isArray(data30)) {
var valid11 = true;
const len6 = data30.length;
for (let i6 = 0;i6 < len6; i6++) {
const _errs64 = errors;
if (typeof data30[i6] !== "string") {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/background/" + i6, schemaPath: "AllowedParams/properties/background/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid11 = _errs64 === errors;
if (!valid11) {
break;
}
}
} else {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/background", schemaPath: "AllowedParams/properties/background/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid4 = _errs62 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.output_formats !== undefined) {
let data32 = data16.output_formats;
const _errs66 = errors;
if (errors === _errs66) {
if (Array.isArray(data32)) {
var valid12 = true;
const len7 = data32.length;
for (let i7 = 0;i7 < len7; i7++) {
const _errs68 = errors;
if (typeof data32[i7] !== "string") {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/output_formats/" + i7, schemaPath: "AllowedParams/properties/output_formats/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid12 = _errs68 === errors;
if (!valid12) {
break;
}
}
} else {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/output_formats", schemaPath: "AllowedParams/properties/output_formats/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid4 = _errs66 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.response_formats !== undefined) {
let data34 = data16.response_formats;
const _errs70 = errors;
if (errors === _errs70) {
if (Array.isArray(data34)) {
var valid13 = true;
const len8 = data34.length;
for (let i8 = 0;i8 < len8; i8++) {
const _errs72 = errors;
if (typeof data34[i8] !== "string") {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/response_formats/" + i8, schemaPath: "AllowedParams/properties/response_formats/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid13 = _errs72 === errors;
if (!valid13) {
break;
}
}
} else {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/response_formats", schemaPath: "AllowedParams/properties/response_formats/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid4 = _errs70 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.person_generation !== undefined) {
let data36 = data16.person_generation;
const _errs74 = errors;
if (errors === _errs74) {
if (Array.isArray(data36)) {
var valid14 = true;
const len9 = data36.length;
for (let i9 = 0;i9 < len9; i9++) {
const _errs76 = errors;
if (typeof data36[i9] !== "string") {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/person_generation/" + i9, schemaPath: "AllowedParams/properties/person_generation/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid14 = _errs76 === errors;
if (!valid14) {
break;
}
}
} else {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/person_generation", schemaPath: "AllowedParams/properties/person_generation/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid4 = _errs74 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.voices !== undefined) {
let data38 = data16.voices;
const _errs78 = errors;
if (errors === _errs78) {
if (Array.isArray(data38)) {
var valid15 = true;
const len10 = data38.length;
for (let i10 = 0;i10 < len10; i10++) {
const _errs80 = errors;
if (typeof data38[i10] !== "string") {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/voices/" + i10, schemaPath: "AllowedParams/properties/voices/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid15 = _errs80 === errors;
if (!valid15) {
break;
}
}
} else {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/voices", schemaPath: "AllowedParams/properties/voices/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid4 = _errs78 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.supported_inputs !== undefined) {
let data40 = data16.supported_inputs;
const _errs82 = errors;
if (errors === _errs82) {
if (Array.isArray(data40)) {
var valid16 = true;
const len11 = data40.length;
for (let i11 = 0;i11 < len11; i11++) {
const _errs84 = errors;
if (typeof data40[i11] !== "string") {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/supported_inputs/" + i11, schemaPath: "AllowedParams/properties/supported_inputs/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid16 = _errs84 === errors;
if (!valid16) {
break;
}
}
} else {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/supported_inputs", schemaPath: "AllowedParams/properties/supported_inputs/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid4 = _errs82 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.accepts_voice_instructions !== undefined) {
const _errs86 = errors;
if (typeof data16.accepts_voice_instructions !== "boolean") {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/accepts_voice_instructions", schemaPath: "AllowedParams/properties/accepts_voice_instructions/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid4 = _errs86 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.requires_voice_instructions !== undefined) {
const _errs88 = errors;
if (typeof data16.requires_voice_instructions !== "boolean") {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/requires_voice_instructions", schemaPath: "AllowedParams/properties/requires_voice_instructions/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid4 = _errs88 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.durations !== undefined) {
let data44 = data16.durations;
const _errs90 = errors;
if (errors === _errs90) {
if (Array.isArray(data44)) {
var valid17 = true;
const len12 = data44.length;
for (let i12 = 0;i12 < len12; i12++) {
let data45 = data44[i12];
const _errs92 = errors;
if (!(typeof data45 == "number" && (!(data45 % 1) && !isNaN(data45)) && isFinite(data45))) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/durations/" + i12, schemaPath: "AllowedParams/properties/durations/items/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs92) {
if (typeof data45 == "number" && isFinite(data45)) {
if (data45 < 0 || isNaN(data45)) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/durations/" + i12, schemaPath: "AllowedParams/properties/durations/items/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid17 = _errs92 === errors;
if (!valid17) {
break;
}
}
} else {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/durations", schemaPath: "AllowedParams/properties/durations/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid4 = _errs90 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.default_duration !== undefined) {
let data46 = data16.default_duration;
const _errs94 = errors;
if (!(typeof data46 == "number" && (!(data46 % 1) && !isNaN(data46)) && isFinite(data46))) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/default_duration", schemaPath: "AllowedParams/properties/default_duration/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs94) {
if (typeof data46 == "number" && isFinite(data46)) {
if (data46 < 0 || isNaN(data46)) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/default_duration", schemaPath: "AllowedParams/properties/default_duration/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs94 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.max_duration_seconds !== undefined) {
let data47 = data16.max_duration_seconds;
const _errs96 = errors;
if (!(typeof data47 == "number" && (!(data47 % 1) && !isNaN(data47)) && isFinite(data47))) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_duration_seconds", schemaPath: "AllowedParams/properties/max_duration_seconds/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs96) {
if (typeof data47 == "number" && isFinite(data47)) {
if (data47 < 0 || isNaN(data47)) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_duration_seconds", schemaPath: "AllowedParams/properties/max_duration_seconds/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs96 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.default_params !== undefined) {
let data48 = data16.default_params;
const _errs98 = errors;
if (!(data48 && typeof data48 == "object" && !Array.isArray(data48))) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/default_params", schemaPath: "AllowedParams/properties/default_params/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid4 = _errs98 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.strength !== undefined) {
let data49 = data16.strength;
const _errs100 = errors;
if (errors === _errs100) {
if (data49 && typeof data49 == "object" && !Array.isArray(data49)) {
let missing2;
if (data49.min === undefined && (missing2 = "min") || data49.max === undefined && (missing2 = "max") || data49.required === undefined && (missing2 = "required")) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/strength", schemaPath: "AllowedParams/properties/strength/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
const _errs102 = errors;
for (const key1 in data49) {
if (!(key1 === "min" || key1 === "max" || key1 === "required")) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/strength", schemaPath: "AllowedParams/properties/strength/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key1 } }];
return false;
break;
}
}
if (_errs102 === errors) {
if (data49.min !== undefined) {
let data50 = data49.min;
const _errs103 = errors;
if (!(typeof data50 == "number" && isFinite(data50))) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/strength/min", schemaPath: "AllowedParams/properties/strength/properties/min/type", keyword: "type", params: { type: "number" } }];
return false;
}
var valid18 = _errs103 === errors;
} else {
var valid18 = true;
}
if (valid18) {
if (data49.max !== undefined) {
let data51 = data49.max;
const _errs105 = errors;
if (!(typeof data51 == "number" && isFinite(data51))) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/strength/max", schemaPath: "AllowedParams/properties/strength/properties/max/type", keyword: "type", params: { type: "number" } }];
return false;
}
var valid18 = _errs105 === errors;
} else {
var valid18 = true;
}
if (valid18) {
if (data49.required !== undefined) {
const _errs107 = errors;
if (typeof data49.required !== "boolean") {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/strength/required", schemaPath: "AllowedParams/properties/strength/properties/required/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid18 = _errs107 === errors;
} else {
var valid18 = true;
}
}
}
}
}
} else {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/strength", schemaPath: "AllowedParams/properties/strength/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid4 = _errs100 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.requires_input_image !== undefined) {
const _errs109 = errors;
if (typeof data16.requires_input_image !== "boolean") {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/requires_input_image", schemaPath: "AllowedParams/properties/requires_input_image/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid4 = _errs109 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.requires_input_video !== undefined) {
const _errs111 = errors;
if (typeof data16.requires_input_video !== "boolean") {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/requires_input_video", schemaPath: "AllowedParams/properties/requires_input_video/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid4 = _errs111 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.requires_input_audio !== undefined) {
const _errs113 = errors;
if (typeof data16.requires_input_audio !== "boolean") {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/requires_input_audio", schemaPath: "AllowedParams/properties/requires_input_audio/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid4 = _errs113 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.requires_input_3d !== undefined) {
const _errs115 = errors;
if (typeof data16.requires_input_3d !== "boolean") {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/requires_input_3d", schemaPath: "AllowedParams/properties/requires_input_3d/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid4 = _errs115 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.accepts_input_image !== undefined) {
const _errs117 = errors;
if (typeof data16.accepts_input_image !== "boolean") {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/accepts_input_image", schemaPath: "AllowedParams/properties/accepts_input_image/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid4 = _errs117 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.accepts_input_video !== undefined) {
const _errs119 = errors;
if (typeof data16.accepts_input_video !== "boolean") {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/accepts_input_video", schemaPath: "AllowedParams/properties/accepts_input_video/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid4 = _errs119 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.max_file_size_bytes !== undefined) {
let data59 = data16.max_file_size_bytes;
const _errs121 = errors;
if (!(typeof data59 == "number" && (!(data59 % 1) && !isNaN(data59)) && isFinite(data59))) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_file_size_bytes", schemaPath: "AllowedParams/properties/max_file_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs121) {
if (typeof data59 == "number" && isFinite(data59)) {
if (data59 < 0 || isNaN(data59)) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_file_size_bytes", schemaPath: "AllowedParams/properties/max_file_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs121 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.max_image_size_bytes !== undefined) {
let data60 = data16.max_image_size_bytes;
const _errs123 = errors;
if (!(typeof data60 == "number" && (!(data60 % 1) && !isNaN(data60)) && isFinite(data60))) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_image_size_bytes", schemaPath: "AllowedParams/properties/max_image_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs123) {
if (typeof data60 == "number" && isFinite(data60)) {
if (data60 < 0 || isNaN(data60)) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_image_size_bytes", schemaPath: "AllowedParams/properties/max_image_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs123 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.max_pdf_size_bytes !== undefined) {
let data61 = data16.max_pdf_size_bytes;
const _errs125 = errors;
if (!(typeof data61 == "number" && (!(data61 % 1) && !isNaN(data61)) && isFinite(data61))) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_pdf_size_bytes", schemaPath: "AllowedParams/properties/max_pdf_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs125) {
if (typeof data61 == "number" && isFinite(data61)) {
if (data61 < 0 || isNaN(data61)) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_pdf_size_bytes", schemaPath: "AllowedParams/properties/max_pdf_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs125 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.max_pdf_pages !== undefined) {
let data62 = data16.max_pdf_pages;
const _errs127 = errors;
if (!(typeof data62 == "number" && (!(data62 % 1) && !isNaN(data62)) && isFinite(data62))) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_pdf_pages", schemaPath: "AllowedParams/properties/max_pdf_pages/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs127) {
if (typeof data62 == "number" && isFinite(data62)) {
if (data62 < 0 || isNaN(data62)) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_pdf_pages", schemaPath: "AllowedParams/properties/max_pdf_pages/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs127 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.max_audio_size_bytes !== undefined) {
let data63 = data16.max_audio_size_bytes;
const _errs129 = errors;
if (!(typeof data63 == "number" && (!(data63 % 1) && !isNaN(data63)) && isFinite(data63))) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_audio_size_bytes", schemaPath: "AllowedParams/properties/max_audio_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs129) {
if (typeof data63 == "number" && isFinite(data63)) {
if (data63 < 0 || isNaN(data63)) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_audio_size_bytes", schemaPath: "AllowedParams/properties/max_audio_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs129 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.max_audio_duration_seconds !== undefined) {
let data64 = data16.max_audio_duration_seconds;
const _errs131 = errors;
if (!(typeof data64 == "number" && (!(data64 % 1) && !isNaN(data64)) && isFinite(data64))) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_audio_duration_seconds", schemaPath: "AllowedParams/properties/max_audio_duration_seconds/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs131) {
if (typeof data64 == "number" && isFinite(data64)) {
if (data64 < 0 || isNaN(data64)) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_audio_duration_seconds", schemaPath: "AllowedParams/properties/max_audio_duration_seconds/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs131 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.max_files !== undefined) {
let data65 = data16.max_files;
const _errs133 = errors;
if (!(typeof data65 == "number" && (!(data65 % 1) && !isNaN(data65)) && isFinite(data65))) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_files", schemaPath: "AllowedParams/properties/max_files/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs133) {
if (typeof data65 == "number" && isFinite(data65)) {
if (data65 < 0 || isNaN(data65)) {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_files", schemaPath: "AllowedParams/properties/max_files/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs133 === errors;
} else {
var valid4 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
} else {
validate60.errors = [{ instancePath: instancePath + "/_svc/allowed_params", schemaPath: "AllowedParams/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid1 = _errs32 === errors;
} else {
var valid1 = true;
}
}
}
}
}
}
}
}
}
}
} else {
validate60.errors = [{ instancePath: instancePath + "/_svc", schemaPath: "#/properties/_svc/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs14 === errors;
} else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
} else {
validate60.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate60.errors = vErrors;
return errors === 0;
}
validate60.evaluated = { props: { id: true, object: true, created: true, owned_by: true, permission: true, root: true, parent: true, _svc: true }, dynamicProps: false, dynamicItems: false };
var validatePresetEntry = validate63;
function validate63(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate63.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.name === undefined && (missing0 = "name")) {
validate63.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
const _errs1 = errors;
for (const key0 in data) {
if (!(key0 === "name" || key0 === "disabled" || key0 === "requests_per_minute" || key0 === "daily_tokens")) {
validate63.errors = [{ instancePath, schemaPath: "#/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } }];
return false;
break;
}
}
if (_errs1 === errors) {
if (data.name !== undefined) {
let data0 = data.name;
const _errs2 = errors;
if (errors === _errs2) {
if (typeof data0 === "string") {
if (!pattern6.test(data0)) {
validate63.errors = [{ instancePath: instancePath + "/name", schemaPath: "#/properties/name/pattern", keyword: "pattern", params: { pattern: "^[a-z0-9][a-z0-9_-]{0,63}$" } }];
return false;
}
} else {
validate63.errors = [{ instancePath: instancePath + "/name", schemaPath: "#/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.disabled !== undefined) {
const _errs4 = errors;
if (typeof data.disabled !== "boolean") {
validate63.errors = [{ instancePath: instancePath + "/disabled", schemaPath: "#/properties/disabled/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.requests_per_minute !== undefined) {
let data2 = data.requests_per_minute;
const _errs6 = errors;
if (!(typeof data2 == "number" && (!(data2 % 1) && !isNaN(data2)) && isFinite(data2)) && data2 !== null) {
validate63.errors = [{ instancePath: instancePath + "/requests_per_minute", schemaPath: "#/properties/requests_per_minute/type", keyword: "type", params: { type: schema34.properties.requests_per_minute.type } }];
return false;
}
if (errors === _errs6) {
if (typeof data2 == "number" && isFinite(data2)) {
if (data2 > 4095 || isNaN(data2)) {
validate63.errors = [{ instancePath: instancePath + "/requests_per_minute", schemaPath: "#/properties/requests_per_minute/maximum", keyword: "maximum", params: { comparison: "<=", limit: 4095 } }];
return false;
} else {
if (data2 < 1 || isNaN(data2)) {
validate63.errors = [{ instancePath: instancePath + "/requests_per_minute", schemaPath: "#/properties/requests_per_minute/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid0 = _errs6 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.daily_tokens !== undefined) {
let data3 = data.daily_tokens;
const _errs8 = errors;
if (!(typeof data3 == "number" && (!(data3 % 1) && !isNaN(data3)) && isFinite(data3)) && data3 !== null) {
validate63.errors = [{ instancePath: instancePath + "/daily_tokens", schemaPath: "#/properties/daily_tokens/type", keyword: "type", params: { type: schema34.properties.daily_tokens.type } }];
return false;
}
if (errors === _errs8) {
if (typeof data3 == "number" && isFinite(data3)) {
if (data3 > 9007199254740991 || isNaN(data3)) {
validate63.errors = [{ instancePath: instancePath + "/daily_tokens", schemaPath: "#/properties/daily_tokens/maximum", keyword: "maximum", params: { comparison: "<=", limit: 9007199254740991 } }];
return false;
} else {
if (data3 < 1 || isNaN(data3)) {
validate63.errors = [{ instancePath: instancePath + "/daily_tokens", schemaPath: "#/properties/daily_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid0 = _errs8 === errors;
} else {
var valid0 = true;
}
}
}
}
}
}
} else {
validate63.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate63.errors = vErrors;
return errors === 0;
}
validate63.evaluated = { props: true, dynamicProps: false, dynamicItems: false };
var validatePricing = validate61;
var validateProviderEntry = validate64;
function validate64(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate64.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.id === undefined && (missing0 = "id")) {
validate64.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
const _errs1 = errors;
for (const key0 in data) {
if (!(key0 === "id" || key0 === "disabled" || key0 === "family" || key0 === "base_url" || key0 === "api_key_env")) {
validate64.errors = [{ instancePath, schemaPath: "#/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } }];
return false;
break;
}
}
if (_errs1 === errors) {
if (data.id !== undefined) {
let data0 = data.id;
const _errs2 = errors;
if (errors === _errs2) {
if (typeof data0 === "string") {
if (!pattern4.test(data0)) {
validate64.errors = [{ instancePath: instancePath + "/id", schemaPath: "#/properties/id/pattern", keyword: "pattern", params: { pattern: "^[a-z0-9][a-z0-9-]{0,63}$" } }];
return false;
}
} else {
validate64.errors = [{ instancePath: instancePath + "/id", schemaPath: "#/properties/id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.disabled !== undefined) {
const _errs4 = errors;
if (typeof data.disabled !== "boolean") {
validate64.errors = [{ instancePath: instancePath + "/disabled", schemaPath: "#/properties/disabled/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.family !== undefined) {
let data2 = data.family;
const _errs6 = errors;
if (typeof data2 !== "string") {
validate64.errors = [{ instancePath: instancePath + "/family", schemaPath: "#/properties/family/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data2 === "sandbox" || data2 === "openai-compatible")) {
validate64.errors = [{ instancePath: instancePath + "/family", schemaPath: "#/properties/family/enum", keyword: "enum", params: { allowedValues: schema33.properties.family.enum } }];
return false;
}
var valid0 = _errs6 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.base_url !== undefined) {
let data3 = data.base_url;
const _errs8 = errors;
if (errors === _errs8) {
if (typeof data3 === "string") {
if (func2(data3) > 2000) {
validate64.errors = [{ instancePath: instancePath + "/base_url", schemaPath: "#/properties/base_url/maxLength", keyword: "maxLength", params: { limit: 2000 } }];
return false;
} else {
if (func2(data3) < 1) {
validate64.errors = [{ instancePath: instancePath + "/base_url", schemaPath: "#/properties/base_url/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate64.errors = [{ instancePath: instancePath + "/base_url", schemaPath: "#/properties/base_url/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs8 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.api_key_env !== undefined) {
let data4 = data.api_key_env;
const _errs10 = errors;
if (errors === _errs10) {
if (typeof data4 === "string") {
if (!pattern5.test(data4)) {
validate64.errors = [{ instancePath: instancePath + "/api_key_env", schemaPath: "#/properties/api_key_env/pattern", keyword: "pattern", params: { pattern: "^[A-Z][A-Z0-9_]*_API_KEY$" } }];
return false;
}
} else {
validate64.errors = [{ instancePath: instancePath + "/api_key_env", schemaPath: "#/properties/api_key_env/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs10 === errors;
} else {
var valid0 = true;
}
}
}
}
}
}
}
} else {
validate64.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate64.errors = vErrors;
return errors === 0;
}
validate64.evaluated = { props: true, dynamicProps: false, dynamicItems: false };
var validateChatCompletionRequest = validate65;
var schema81 = { type: "object", required: ["model", "messages"], properties: { model: { type: "string", minLength: 1, maxLength: 200 }, messages: { type: "array", minItems: 1, items: { $ref: "ChatMessage" } }, stream: { type: ["boolean", "null"] }, stream_options: { type: ["object", "null"], properties: { include_usage: { type: "boolean" }, include_obfuscation: { type: "boolean" } } }, max_completion_tokens: { type: ["integer", "null"], minimum: 1, maximum: 2147483647 }, max_tokens: { type: ["integer", "null"], minimum: 1, maximum: 2147483647 }, temperature: { type: ["number", "null"], minimum: 0, maximum: 2 }, top_p: { type: ["number", "null"], minimum: 0, maximum: 1 }, n: { type: ["integer", "null"], minimum: 1, maximum: 128 }, stop: { type: ["string", "array", "null"], maxItems: 16, items: { type: "string" } }, frequency_penalty: { type: ["number", "null"], minimum: -2, maximum: 2 }, presence_penalty: { type: ["number", "null"], minimum: -2, maximum: 2 }, logit_bias: { type: ["object", "null"], additionalProperties: { type: "number", minimum: -100, maximum: 100 } }, logprobs: { type: ["boolean", "null"] }, top_logprobs: { type: ["integer", "null"], minimum: 0, maximum: 20 }, seed: { type: ["integer", "null"], minimum: -9223372036854776000, maximum: 9223372036854776000 }, tools: { type: "array", items: { $ref: "ChatTool" } }, tool_choice: { $ref: "ToolChoice" }, parallel_tool_calls: { type: "boolean" }, response_format: { $ref: "ResponseFormat" }, reasoning_effort: { type: ["string", "null"], maxLength: 40 }, verbosity: { enum: ["low", "medium", "high", null] }, modalities: { type: ["array", "null"], items: { enum: ["text", "audio"] } }, audio: { type: ["object", "null"], required: ["voice", "format"], properties: { voice: { type: ["string", "object"], required: ["id"], properties: { id: { type: "string" } } }, format: { enum: ["wav", "aac", "mp3", "flac", "opus", "pcm16"] } } }, prediction: { type: ["object", "null"], required: ["type", "content"], properties: { type: { const: "content" }, content: { type: ["string", "array"], minItems: 1, items: { $ref: "TextOnlyBlock" } } } }, web_search_options: { type: "object", properties: { search_context_size: { enum: ["low", "medium", "high"] }, user_location: { type: ["object", "null"], required: ["type", "approximate"], properties: { type: { const: "approximate" }, approximate: { type: "object", properties: { country: { type: "string" }, region: { type: "string" }, city: { type: "string" }, timezone: { type: "string" } } } } } } }, service_tier: { type: ["string", "null"] }, store: { type: ["boolean", "null"] }, metadata: { type: ["object", "null"], additionalProperties: { type: "string" } }, user: { type: "string" }, safety_identifier: { type: ["string", "null"] }, prompt_cache_key: { type: ["string", "null"] }, functions: { type: "array", items: { type: "object", required: ["name"], properties: { name: { type: "string" } } } }, function_call: { type: ["string", "object"], required: ["name"], properties: { name: { type: "string" } } } } };
var schema83 = { type: "string", enum: ["none", "auto", "required"] };
var schema84 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["function", "custom", "allowed_tools"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "FunctionToolChoice" }, { $ref: "CustomToolChoice" }, { $ref: "AllowedToolsChoice" }] }] };
var schema87 = { type: "object", required: ["type", "allowed_tools"], properties: { type: { const: "allowed_tools" }, allowed_tools: { type: "object", required: ["mode", "tools"], properties: { mode: { enum: ["auto", "required"] }, tools: { type: "array", items: { type: "object" } } } } } };
function validate69(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate69.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate69.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate69.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate69.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "function" || data0 === "custom" || data0 === "allowed_tools")) {
validate69.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema84.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate69.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs1 === errors;
if (valid0) {
const _errs5 = errors;
if (errors === _errs5) {
if (data && typeof data == "object" && !Array.isArray(data)) {
const tag0 = data.type;
if (typeof tag0 == "string") {
if (tag0 === "function") {
const _errs9 = errors;
if (errors === _errs9) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing1;
if (data.type === undefined && (missing1 = "type") || data.function === undefined && (missing1 = "function")) {
validate69.errors = [{ instancePath, schemaPath: "FunctionToolChoice/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs11 = errors;
if (data.type !== "function") {
validate69.errors = [{ instancePath: instancePath + "/type", schemaPath: "FunctionToolChoice/properties/type/const", keyword: "const", params: { allowedValue: "function" } }];
return false;
}
var valid5 = _errs11 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data.function !== undefined) {
let data2 = data.function;
const _errs12 = errors;
if (errors === _errs12) {
if (data2 && typeof data2 == "object" && !Array.isArray(data2)) {
let missing2;
if (data2.name === undefined && (missing2 = "name")) {
validate69.errors = [{ instancePath: instancePath + "/function", schemaPath: "FunctionToolChoice/properties/function/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data2.name !== undefined) {
if (typeof data2.name !== "string") {
validate69.errors = [{ instancePath: instancePath + "/function/name", schemaPath: "FunctionToolChoice/properties/function/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
} else {
validate69.errors = [{ instancePath: instancePath + "/function", schemaPath: "FunctionToolChoice/properties/function/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid5 = _errs12 === errors;
} else {
var valid5 = true;
}
}
}
} else {
validate69.errors = [{ instancePath, schemaPath: "FunctionToolChoice/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var props0 = {};
props0.type = true;
props0.function = true;
} else if (tag0 === "custom") {
const _errs17 = errors;
if (errors === _errs17) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing3;
if (data.type === undefined && (missing3 = "type") || data.custom === undefined && (missing3 = "custom")) {
validate69.errors = [{ instancePath, schemaPath: "CustomToolChoice/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs19 = errors;
if (data.type !== "custom") {
validate69.errors = [{ instancePath: instancePath + "/type", schemaPath: "CustomToolChoice/properties/type/const", keyword: "const", params: { allowedValue: "custom" } }];
return false;
}
var valid9 = _errs19 === errors;
} else {
var valid9 = true;
}
if (valid9) {
if (data.custom !== undefined) {
let data5 = data.custom;
const _errs20 = errors;
if (errors === _errs20) {
if (data5 && typeof data5 == "object" && !Array.isArray(data5)) {
let missing4;
if (data5.name === undefined && (missing4 = "name")) {
validate69.errors = [{ instancePath: instancePath + "/custom", schemaPath: "CustomToolChoice/properties/custom/required", keyword: "required", params: { missingProperty: missing4 } }];
return false;
} else {
if (data5.name !== undefined) {
if (typeof data5.name !== "string") {
validate69.errors = [{ instancePath: instancePath + "/custom/name", schemaPath: "CustomToolChoice/properties/custom/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
} else {
validate69.errors = [{ instancePath: instancePath + "/custom", schemaPath: "CustomToolChoice/properties/custom/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid9 = _errs20 === errors;
} else {
var valid9 = true;
}
}
}
} else {
validate69.errors = [{ instancePath, schemaPath: "CustomToolChoice/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.custom = true;
}
} else if (tag0 === "allowed_tools") {
const _errs25 = errors;
if (errors === _errs25) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing5;
if (data.type === undefined && (missing5 = "type") || data.allowed_tools === undefined && (missing5 = "allowed_tools")) {
validate69.errors = [{ instancePath, schemaPath: "AllowedToolsChoice/required", keyword: "required", params: { missingProperty: missing5 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs27 = errors;
if (data.type !== "allowed_tools") {
validate69.errors = [{ instancePath: instancePath + "/type", schemaPath: "AllowedToolsChoice/properties/type/const", keyword: "const", params: { allowedValue: "allowed_tools" } }];
return false;
}
var valid13 = _errs27 === errors;
} else {
var valid13 = true;
}
if (valid13) {
if (data.allowed_tools !== undefined) {
let data8 = data.allowed_tools;
const _errs28 = errors;
if (errors === _errs28) {
if (data8 && typeof data8 == "object" && !Array.isArray(data8)) {
let missing6;
if (data8.mode === undefined && (missing6 = "mode") || data8.tools === undefined && (missing6 = "tools")) {
validate69.errors = [{ instancePath: instancePath + "/allowed_tools", schemaPath: "AllowedToolsChoice/properties/allowed_tools/required", keyword: "required", params: { missingProperty: missing6 } }];
return false;
} else {
if (data8.mode !== undefined) {
let data9 = data8.mode;
const _errs30 = errors;
if (!(data9 === "auto" || data9 === "required")) {
validate69.errors = [{ instancePath: instancePath + "/allowed_tools/mode", schemaPath: "AllowedToolsChoice/properties/allowed_tools/properties/mode/enum", keyword: "enum", params: { allowedValues: schema87.properties.allowed_tools.properties.mode.enum } }];
return false;
}
var valid14 = _errs30 === errors;
} else {
var valid14 = true;
}
if (valid14) {
if (data8.tools !== undefined) {
let data10 = data8.tools;
const _errs31 = errors;
if (errors === _errs31) {
if (Array.isArray(data10)) {
var valid15 = true;
const len0 = data10.length;
for (let i0 = 0;i0 < len0; i0++) {
let data11 = data10[i0];
const _errs33 = errors;
if (!(data11 && typeof data11 == "object" && !Array.isArray(data11))) {
validate69.errors = [{ instancePath: instancePath + "/allowed_tools/tools/" + i0, schemaPath: "AllowedToolsChoice/properties/allowed_tools/properties/tools/items/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid15 = _errs33 === errors;
if (!valid15) {
break;
}
}
} else {
validate69.errors = [{ instancePath: instancePath + "/allowed_tools/tools", schemaPath: "AllowedToolsChoice/properties/allowed_tools/properties/tools/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid14 = _errs31 === errors;
} else {
var valid14 = true;
}
}
}
} else {
validate69.errors = [{ instancePath: instancePath + "/allowed_tools", schemaPath: "AllowedToolsChoice/properties/allowed_tools/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid13 = _errs28 === errors;
} else {
var valid13 = true;
}
}
}
} else {
validate69.errors = [{ instancePath, schemaPath: "AllowedToolsChoice/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.allowed_tools = true;
}
} else {
validate69.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate69.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate69.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs5 === errors;
if (valid0) {
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
}
}
}
validate69.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate69.evaluated = { dynamicProps: true, dynamicItems: false };
function validate68(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate68.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
const _errs0 = errors;
let valid0 = false;
const _errs1 = errors;
if (typeof data !== "string") {
const err0 = { instancePath, schemaPath: "ToolChoiceMode/type", keyword: "type", params: { type: "string" } };
if (vErrors === null) {
vErrors = [err0];
} else {
vErrors.push(err0);
}
errors++;
}
if (!(data === "none" || data === "auto" || data === "required")) {
const err1 = { instancePath, schemaPath: "ToolChoiceMode/enum", keyword: "enum", params: { allowedValues: schema83.enum } };
if (vErrors === null) {
vErrors = [err1];
} else {
vErrors.push(err1);
}
errors++;
}
var _valid0 = _errs1 === errors;
valid0 = valid0 || _valid0;
const _errs4 = errors;
if (!validate69(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate69.errors : vErrors.concat(validate69.errors);
errors = vErrors.length;
} else {
var props0 = validate69.evaluated.props;
}
var _valid0 = _errs4 === errors;
valid0 = valid0 || _valid0;
if (!valid0) {
const err2 = { instancePath, schemaPath: "#/anyOf", keyword: "anyOf", params: {} };
if (vErrors === null) {
vErrors = [err2];
} else {
vErrors.push(err2);
}
errors++;
validate68.errors = vErrors;
return false;
} else {
errors = _errs0;
if (vErrors !== null) {
if (_errs0) {
vErrors.length = _errs0;
} else {
vErrors = null;
}
}
}
validate68.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate68.evaluated = { dynamicProps: true, dynamicItems: false };
var schema88 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["text", "json_object", "json_schema"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "TextFormat" }, { $ref: "JsonObjectFormat" }, { $ref: "JsonSchemaFormat" }] }] };
var schema91 = { type: "object", required: ["type", "json_schema"], properties: { type: { const: "json_schema" }, json_schema: { type: "object", required: ["name"], properties: { name: { type: "string", pattern: "^[a-zA-Z0-9_-]{1,64}$" }, description: { type: "string" }, schema: { type: "object" }, strict: { type: ["boolean", "null"] } } } } };
function validate72(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate72.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate72.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate72.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate72.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "text" || data0 === "json_object" || data0 === "json_schema")) {
validate72.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema88.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate72.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs1 === errors;
if (valid0) {
const _errs5 = errors;
if (errors === _errs5) {
if (data && typeof data == "object" && !Array.isArray(data)) {
const tag0 = data.type;
if (typeof tag0 == "string") {
if (tag0 === "text") {
const _errs9 = errors;
if (errors === _errs9) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing1;
if (data.type === undefined && (missing1 = "type")) {
validate72.errors = [{ instancePath, schemaPath: "TextFormat/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data.type !== undefined) {
if (data.type !== "text") {
validate72.errors = [{ instancePath: instancePath + "/type", schemaPath: "TextFormat/properties/type/const", keyword: "const", params: { allowedValue: "text" } }];
return false;
}
}
}
} else {
validate72.errors = [{ instancePath, schemaPath: "TextFormat/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var props0 = {};
props0.type = true;
} else if (tag0 === "json_object") {
const _errs13 = errors;
if (errors === _errs13) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing2;
if (data.type === undefined && (missing2 = "type")) {
validate72.errors = [{ instancePath, schemaPath: "JsonObjectFormat/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data.type !== undefined) {
if (data.type !== "json_object") {
validate72.errors = [{ instancePath: instancePath + "/type", schemaPath: "JsonObjectFormat/properties/type/const", keyword: "const", params: { allowedValue: "json_object" } }];
return false;
}
}
}
} else {
validate72.errors = [{ instancePath, schemaPath: "JsonObjectFormat/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
}
} else if (tag0 === "json_schema") {
const _errs17 = errors;
if (errors === _errs17) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing3;
if (data.type === undefined && (missing3 = "type") || data.json_schema === undefined && (missing3 = "json_schema")) {
validate72.errors = [{ instancePath, schemaPath: "JsonSchemaFormat/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs19 = errors;
if (data.type !== "json_schema") {
validate72.errors = [{ instancePath: instancePath + "/type", schemaPath: "JsonSchemaFormat/properties/type/const", keyword: "const", params: { allowedValue: "json_schema" } }];
return false;
}
var valid11 = _errs19 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data.json_schema !== undefined) {
let data4 = data.json_schema;
const _errs20 = errors;
if (errors === _errs20) {
if (data4 && typeof data4 == "object" && !Array.isArray(data4)) {
let missing4;
if (data4.name === undefined && (missing4 = "name")) {
validate72.errors = [{ instancePath: instancePath + "/json_schema", schemaPath: "JsonSchemaFormat/properties/json_schema/required", keyword: "required", params: { missingProperty: missing4 } }];
return false;
} else {
if (data4.name !== undefined) {
let data5 = data4.name;
const _errs22 = errors;
if (errors === _errs22) {
if (typeof data5 === "string") {
if (!pattern9.test(data5)) {
validate72.errors = [{ instancePath: instancePath + "/json_schema/name", schemaPath: "JsonSchemaFormat/properties/json_schema/properties/name/pattern", keyword: "pattern", params: { pattern: "^[a-zA-Z0-9_-]{1,64}$" } }];
return false;
}
} else {
validate72.errors = [{ instancePath: instancePath + "/json_schema/name", schemaPath: "JsonSchemaFormat/properties/json_schema/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid12 = _errs22 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data4.description !== undefined) {
const _errs24 = errors;
if (typeof data4.description !== "string") {
validate72.errors = [{ instancePath: instancePath + "/json_schema/description", schemaPath: "JsonSchemaFormat/properties/json_schema/properties/description/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid12 = _errs24 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data4.schema !== undefined) {
let data7 = data4.schema;
const _errs26 = errors;
if (!(data7 && typeof data7 == "object" && !Array.isArray(data7))) {
validate72.errors = [{ instancePath: instancePath + "/json_schema/schema", schemaPath: "JsonSchemaFormat/properties/json_schema/properties/schema/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid12 = _errs26 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data4.strict !== undefined) {
let data8 = data4.strict;
const _errs28 = errors;
if (typeof data8 !== "boolean" && data8 !== null) {
validate72.errors = [{ instancePath: instancePath + "/json_schema/strict", schemaPath: "JsonSchemaFormat/properties/json_schema/properties/strict/type", keyword: "type", params: { type: schema91.properties.json_schema.properties.strict.type } }];
return false;
}
var valid12 = _errs28 === errors;
} else {
var valid12 = true;
}
}
}
}
}
} else {
validate72.errors = [{ instancePath: instancePath + "/json_schema", schemaPath: "JsonSchemaFormat/properties/json_schema/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid11 = _errs20 === errors;
} else {
var valid11 = true;
}
}
}
} else {
validate72.errors = [{ instancePath, schemaPath: "JsonSchemaFormat/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.json_schema = true;
}
} else {
validate72.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate72.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate72.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs5 === errors;
if (valid0) {
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
}
}
}
validate72.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate72.evaluated = { dynamicProps: true, dynamicItems: false };
function validate65(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate65.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.model === undefined && (missing0 = "model") || data.messages === undefined && (missing0 = "messages")) {
validate65.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.model !== undefined) {
let data0 = data.model;
const _errs1 = errors;
if (errors === _errs1) {
if (typeof data0 === "string") {
if (func2(data0) > 200) {
validate65.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/maxLength", keyword: "maxLength", params: { limit: 200 } }];
return false;
} else {
if (func2(data0) < 1) {
validate65.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate65.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.messages !== undefined) {
let data1 = data.messages;
const _errs3 = errors;
if (errors === _errs3) {
if (Array.isArray(data1)) {
if (data1.length < 1) {
validate65.errors = [{ instancePath: instancePath + "/messages", schemaPath: "#/properties/messages/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid1 = true;
const len0 = data1.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs5 = errors;
if (!validate30(data1[i0], { instancePath: instancePath + "/messages/" + i0, parentData: data1, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate30.errors : vErrors.concat(validate30.errors);
errors = vErrors.length;
}
var valid1 = _errs5 === errors;
if (!valid1) {
break;
}
}
}
} else {
validate65.errors = [{ instancePath: instancePath + "/messages", schemaPath: "#/properties/messages/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.stream !== undefined) {
let data3 = data.stream;
const _errs6 = errors;
if (typeof data3 !== "boolean" && data3 !== null) {
validate65.errors = [{ instancePath: instancePath + "/stream", schemaPath: "#/properties/stream/type", keyword: "type", params: { type: schema81.properties.stream.type } }];
return false;
}
var valid0 = _errs6 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.stream_options !== undefined) {
let data4 = data.stream_options;
const _errs8 = errors;
if (!(data4 && typeof data4 == "object" && !Array.isArray(data4)) && data4 !== null) {
validate65.errors = [{ instancePath: instancePath + "/stream_options", schemaPath: "#/properties/stream_options/type", keyword: "type", params: { type: schema81.properties.stream_options.type } }];
return false;
}
if (errors === _errs8) {
if (data4 && typeof data4 == "object" && !Array.isArray(data4)) {
if (data4.include_usage !== undefined) {
const _errs10 = errors;
if (typeof data4.include_usage !== "boolean") {
validate65.errors = [{ instancePath: instancePath + "/stream_options/include_usage", schemaPath: "#/properties/stream_options/properties/include_usage/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid2 = _errs10 === errors;
} else {
var valid2 = true;
}
if (valid2) {
if (data4.include_obfuscation !== undefined) {
const _errs12 = errors;
if (typeof data4.include_obfuscation !== "boolean") {
validate65.errors = [{ instancePath: instancePath + "/stream_options/include_obfuscation", schemaPath: "#/properties/stream_options/properties/include_obfuscation/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid2 = _errs12 === errors;
} else {
var valid2 = true;
}
}
}
}
var valid0 = _errs8 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.max_completion_tokens !== undefined) {
let data7 = data.max_completion_tokens;
const _errs14 = errors;
if (!(typeof data7 == "number" && (!(data7 % 1) && !isNaN(data7)) && isFinite(data7)) && data7 !== null) {
validate65.errors = [{ instancePath: instancePath + "/max_completion_tokens", schemaPath: "#/properties/max_completion_tokens/type", keyword: "type", params: { type: schema81.properties.max_completion_tokens.type } }];
return false;
}
if (errors === _errs14) {
if (typeof data7 == "number" && isFinite(data7)) {
if (data7 > 2147483647 || isNaN(data7)) {
validate65.errors = [{ instancePath: instancePath + "/max_completion_tokens", schemaPath: "#/properties/max_completion_tokens/maximum", keyword: "maximum", params: { comparison: "<=", limit: 2147483647 } }];
return false;
} else {
if (data7 < 1 || isNaN(data7)) {
validate65.errors = [{ instancePath: instancePath + "/max_completion_tokens", schemaPath: "#/properties/max_completion_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid0 = _errs14 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.max_tokens !== undefined) {
let data8 = data.max_tokens;
const _errs16 = errors;
if (!(typeof data8 == "number" && (!(data8 % 1) && !isNaN(data8)) && isFinite(data8)) && data8 !== null) {
validate65.errors = [{ instancePath: instancePath + "/max_tokens", schemaPath: "#/properties/max_tokens/type", keyword: "type", params: { type: schema81.properties.max_tokens.type } }];
return false;
}
if (errors === _errs16) {
if (typeof data8 == "number" && isFinite(data8)) {
if (data8 > 2147483647 || isNaN(data8)) {
validate65.errors = [{ instancePath: instancePath + "/max_tokens", schemaPath: "#/properties/max_tokens/maximum", keyword: "maximum", params: { comparison: "<=", limit: 2147483647 } }];
return false;
} else {
if (data8 < 1 || isNaN(data8)) {
validate65.errors = [{ instancePath: instancePath + "/max_tokens", schemaPath: "#/properties/max_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid0 = _errs16 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.temperature !== undefined) {
let data9 = data.temperature;
const _errs18 = errors;
if (!(typeof data9 == "number" && isFinite(data9)) && data9 !== null) {
validate65.errors = [{ instancePath: instancePath + "/temperature", schemaPath: "#/properties/temperature/type", keyword: "type", params: { type: schema81.properties.temperature.type } }];
return false;
}
if (errors === _errs18) {
if (typeof data9 == "number" && isFinite(data9)) {
if (data9 > 2 || isNaN(data9)) {
validate65.errors = [{ instancePath: instancePath + "/temperature", schemaPath: "#/properties/temperature/maximum", keyword: "maximum", params: { comparison: "<=", limit: 2 } }];
return false;
} else {
if (data9 < 0 || isNaN(data9)) {
validate65.errors = [{ instancePath: instancePath + "/temperature", schemaPath: "#/properties/temperature/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
}
var valid0 = _errs18 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.top_p !== undefined) {
let data10 = data.top_p;
const _errs20 = errors;
if (!(typeof data10 == "number" && isFinite(data10)) && data10 !== null) {
validate65.errors = [{ instancePath: instancePath + "/top_p", schemaPath: "#/properties/top_p/type", keyword: "type", params: { type: schema81.properties.top_p.type } }];
return false;
}
if (errors === _errs20) {
if (typeof data10 == "number" && isFinite(data10)) {
if (data10 > 1 || isNaN(data10)) {
validate65.errors = [{ instancePath: instancePath + "/top_p", schemaPath: "#/properties/top_p/maximum", keyword: "maximum", params: { comparison: "<=", limit: 1 } }];
return false;
} else {
if (data10 < 0 || isNaN(data10)) {
validate65.errors = [{ instancePath: instancePath + "/top_p", schemaPath: "#/properties/top_p/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
}
var valid0 = _errs20 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.n !== undefined) {
let data11 = data.n;
const _errs22 = errors;
if (!(typeof data11 == "number" && (!(data11 % 1) && !isNaN(data11)) && isFinite(data11)) && data11 !== null) {
validate65.errors = [{ instancePath: instancePath + "/n", schemaPath: "#/properties/n/type", keyword: "type", params: { type: schema81.properties.n.type } }];
return false;
}
if (errors === _errs22) {
if (typeof data11 == "number" && isFinite(data11)) {
if (data11 > 128 || isNaN(data11)) {
validate65.errors = [{ instancePath: instancePath + "/n", schemaPath: "#/properties/n/maximum", keyword: "maximum", params: { comparison: "<=", limit: 128 } }];
return false;
} else {
if (data11 < 1 || isNaN(data11)) {
validate65.errors = [{ instancePath: instancePath + "/n", schemaPath: "#/properties/n/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid0 = _errs22 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.stop !== undefined) {
let data12 = data.stop;
const _errs24 = errors;
if (typeof data12 !== "string" && !Array.isArray(data12) && data12 !== null) {
validate65.errors = [{ instancePath: instancePath + "/stop", schemaPath: "#/properties/stop/type", keyword: "type", params: { type: schema81.properties.stop.type } }];
return false;
}
if (errors === _errs24) {
if (Array.isArray(data12)) {
if (data12.length > 16) {
validate65.errors = [{ instancePath: instancePath + "/stop", schemaPath: "#/properties/stop/maxItems", keyword: "maxItems", params: { limit: 16 } }];
return false;
} else {
var valid3 = true;
const len1 = data12.length;
for (let i1 = 0;i1 < len1; i1++) {
const _errs26 = errors;
if (typeof data12[i1] !== "string") {
validate65.errors = [{ instancePath: instancePath + "/stop/" + i1, schemaPath: "#/properties/stop/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid3 = _errs26 === errors;
if (!valid3) {
break;
}
}
}
}
}
var valid0 = _errs24 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.frequency_penalty !== undefined) {
let data14 = data.frequency_penalty;
const _errs28 = errors;
if (!(typeof data14 == "number" && isFinite(data14)) && data14 !== null) {
validate65.errors = [{ instancePath: instancePath + "/frequency_penalty", schemaPath: "#/properties/frequency_penalty/type", keyword: "type", params: { type: schema81.properties.frequency_penalty.type } }];
return false;
}
if (errors === _errs28) {
if (typeof data14 == "number" && isFinite(data14)) {
if (data14 > 2 || isNaN(data14)) {
validate65.errors = [{ instancePath: instancePath + "/frequency_penalty", schemaPath: "#/properties/frequency_penalty/maximum", keyword: "maximum", params: { comparison: "<=", limit: 2 } }];
return false;
} else {
if (data14 < -2 || isNaN(data14)) {
validate65.errors = [{ instancePath: instancePath + "/frequency_penalty", schemaPath: "#/properties/frequency_penalty/minimum", keyword: "minimum", params: { comparison: ">=", limit: -2 } }];
return false;
}
}
}
}
var valid0 = _errs28 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.presence_penalty !== undefined) {
let data15 = data.presence_penalty;
const _errs30 = errors;
if (!(typeof data15 == "number" && isFinite(data15)) && data15 !== null) {
validate65.errors = [{ instancePath: instancePath + "/presence_penalty", schemaPath: "#/properties/presence_penalty/type", keyword: "type", params: { type: schema81.properties.presence_penalty.type } }];
return false;
}
if (errors === _errs30) {
if (typeof data15 == "number" && isFinite(data15)) {
if (data15 > 2 || isNaN(data15)) {
validate65.errors = [{ instancePath: instancePath + "/presence_penalty", schemaPath: "#/properties/presence_penalty/maximum", keyword: "maximum", params: { comparison: "<=", limit: 2 } }];
return false;
} else {
if (data15 < -2 || isNaN(data15)) {
validate65.errors = [{ instancePath: instancePath + "/presence_penalty", schemaPath: "#/properties/presence_penalty/minimum", keyword: "minimum", params: { comparison: ">=", limit: -2 } }];
return false;
}
}
}
}
var valid0 = _errs30 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.logit_bias !== undefined) {
let data16 = data.logit_bias;
const _errs32 = errors;
if (!(data16 && typeof data16 == "object" && !Array.isArray(data16)) && data16 !== null) {
validate65.errors = [{ instancePath: instancePath + "/logit_bias", schemaPath: "#/properties/logit_bias/type", keyword: "type", params: { type: schema81.properties.logit_bias.type } }];
return false;
}
if (errors === _errs32) {
if (data16 && typeof data16 == "object" && !Array.isArray(data16)) {
for (const key0 in data16) {
let data17 = data16[key0];
const _errs35 = errors;
if (errors === _errs35) {
if (typeof data17 == "number" && isFinite(data17)) {
if (data17 > 100 || isNaN(data17)) {
validate65.errors = [{ instancePath: instancePath + "/logit_bias/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/logit_bias/additionalProperties/maximum", keyword: "maximum", params: { comparison: "<=", limit: 100 } }];
return false;
} else {
if (data17 < -100 || isNaN(data17)) {
validate65.errors = [{ instancePath: instancePath + "/logit_bias/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/logit_bias/additionalProperties/minimum", keyword: "minimum", params: { comparison: ">=", limit: -100 } }];
return false;
}
}
} else {
validate65.errors = [{ instancePath: instancePath + "/logit_bias/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/logit_bias/additionalProperties/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid4 = _errs35 === errors;
if (!valid4) {
break;
}
}
}
}
var valid0 = _errs32 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.logprobs !== undefined) {
let data18 = data.logprobs;
const _errs37 = errors;
if (typeof data18 !== "boolean" && data18 !== null) {
validate65.errors = [{ instancePath: instancePath + "/logprobs", schemaPath: "#/properties/logprobs/type", keyword: "type", params: { type: schema81.properties.logprobs.type } }];
return false;
}
var valid0 = _errs37 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.top_logprobs !== undefined) {
let data19 = data.top_logprobs;
const _errs39 = errors;
if (!(typeof data19 == "number" && (!(data19 % 1) && !isNaN(data19)) && isFinite(data19)) && data19 !== null) {
validate65.errors = [{ instancePath: instancePath + "/top_logprobs", schemaPath: "#/properties/top_logprobs/type", keyword: "type", params: { type: schema81.properties.top_logprobs.type } }];
return false;
}
if (errors === _errs39) {
if (typeof data19 == "number" && isFinite(data19)) {
if (data19 > 20 || isNaN(data19)) {
validate65.errors = [{ instancePath: instancePath + "/top_logprobs", schemaPath: "#/properties/top_logprobs/maximum", keyword: "maximum", params: { comparison: "<=", limit: 20 } }];
return false;
} else {
if (data19 < 0 || isNaN(data19)) {
validate65.errors = [{ instancePath: instancePath + "/top_logprobs", schemaPath: "#/properties/top_logprobs/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
}
var valid0 = _errs39 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.seed !== undefined) {
let data20 = data.seed;
const _errs41 = errors;
if (!(typeof data20 == "number" && (!(data20 % 1) && !isNaN(data20)) && isFinite(data20)) && data20 !== null) {
validate65.errors = [{ instancePath: instancePath + "/seed", schemaPath: "#/properties/seed/type", keyword: "type", params: { type: schema81.properties.seed.type } }];
return false;
}
if (errors === _errs41) {
if (typeof data20 == "number" && isFinite(data20)) {
if (data20 > 9223372036854776000 || isNaN(data20)) {
validate65.errors = [{ instancePath: instancePath + "/seed", schemaPath: "#/properties/seed/maximum", keyword: "maximum", params: { comparison: "<=", limit: 9223372036854776000 } }];
return false;
} else {
if (data20 < -9223372036854776000 || isNaN(data20)) {
validate65.errors = [{ instancePath: instancePath + "/seed", schemaPath: "#/properties/seed/minimum", keyword: "minimum", params: { comparison: ">=", limit: -9223372036854776000 } }];
return false;
}
}
}
}
var valid0 = _errs41 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.tools !== undefined) {
let data21 = data.tools;
const _errs43 = errors;
if (errors === _errs43) {
if (Array.isArray(data21)) {
var valid5 = true;
const len2 = data21.length;
for (let i2 = 0;i2 < len2; i2++) {
const _errs45 = errors;
if (!validate51(data21[i2], { instancePath: instancePath + "/tools/" + i2, parentData: data21, parentDataProperty: i2, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate51.errors : vErrors.concat(validate51.errors);
errors = vErrors.length;
}
var valid5 = _errs45 === errors;
if (!valid5) {
break;
}
}
} else {
validate65.errors = [{ instancePath: instancePath + "/tools", schemaPath: "#/properties/tools/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs43 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.tool_choice !== undefined) {
const _errs46 = errors;
if (!validate68(data.tool_choice, { instancePath: instancePath + "/tool_choice", parentData: data, parentDataProperty: "tool_choice", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate68.errors : vErrors.concat(validate68.errors);
errors = vErrors.length;
}
var valid0 = _errs46 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.parallel_tool_calls !== undefined) {
const _errs47 = errors;
if (typeof data.parallel_tool_calls !== "boolean") {
validate65.errors = [{ instancePath: instancePath + "/parallel_tool_calls", schemaPath: "#/properties/parallel_tool_calls/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs47 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.response_format !== undefined) {
const _errs49 = errors;
if (!validate72(data.response_format, { instancePath: instancePath + "/response_format", parentData: data, parentDataProperty: "response_format", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate72.errors : vErrors.concat(validate72.errors);
errors = vErrors.length;
}
var valid0 = _errs49 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.reasoning_effort !== undefined) {
let data26 = data.reasoning_effort;
const _errs50 = errors;
if (typeof data26 !== "string" && data26 !== null) {
validate65.errors = [{ instancePath: instancePath + "/reasoning_effort", schemaPath: "#/properties/reasoning_effort/type", keyword: "type", params: { type: schema81.properties.reasoning_effort.type } }];
return false;
}
if (errors === _errs50) {
if (typeof data26 === "string") {
if (func2(data26) > 40) {
validate65.errors = [{ instancePath: instancePath + "/reasoning_effort", schemaPath: "#/properties/reasoning_effort/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
}
}
}
var valid0 = _errs50 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.verbosity !== undefined) {
let data27 = data.verbosity;
const _errs52 = errors;
if (!(data27 === "low" || data27 === "medium" || data27 === "high" || data27 === null)) {
validate65.errors = [{ instancePath: instancePath + "/verbosity", schemaPath: "#/properties/verbosity/enum", keyword: "enum", params: { allowedValues: schema81.properties.verbosity.enum } }];
return false;
}
var valid0 = _errs52 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.modalities !== undefined) {
let data28 = data.modalities;
const _errs53 = errors;
if (!Array.isArray(data28) && data28 !== null) {
validate65.errors = [{ instancePath: instancePath + "/modalities", schemaPath: "#/properties/modalities/type", keyword: "type", params: { type: schema81.properties.modalities.type } }];
return false;
}
if (errors === _errs53) {
if (Array.isArray(data28)) {
var valid6 = true;
const len3 = data28.length;
for (let i3 = 0;i3 < len3; i3++) {
let data29 = data28[i3];
const _errs55 = errors;
if (!(data29 === "text" || data29 === "audio")) {
validate65.errors = [{ instancePath: instancePath + "/modalities/" + i3, schemaPath: "#/properties/modalities/items/enum", keyword: "enum", params: { allowedValues: schema81.properties.modalities.items.enum } }];
return false;
}
var valid6 = _errs55 === errors;
if (!valid6) {
break;
}
}
}
}
var valid0 = _errs53 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.audio !== undefined) {
let data30 = data.audio;
const _errs56 = errors;
if (!(data30 && typeof data30 == "object" && !Array.isArray(data30)) && data30 !== null) {
validate65.errors = [{ instancePath: instancePath + "/audio", schemaPath: "#/properties/audio/type", keyword: "type", params: { type: schema81.properties.audio.type } }];
return false;
}
if (errors === _errs56) {
if (data30 && typeof data30 == "object" && !Array.isArray(data30)) {
let missing1;
if (data30.voice === undefined && (missing1 = "voice") || data30.format === undefined && (missing1 = "format")) {
validate65.errors = [{ instancePath: instancePath + "/audio", schemaPath: "#/properties/audio/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data30.voice !== undefined) {
let data31 = data30.voice;
const _errs58 = errors;
if (typeof data31 !== "string" && !(data31 && typeof data31 == "object" && !Array.isArray(data31))) {
validate65.errors = [{ instancePath: instancePath + "/audio/voice", schemaPath: "#/properties/audio/properties/voice/type", keyword: "type", params: { type: schema81.properties.audio.properties.voice.type } }];
return false;
}
if (errors === _errs58) {
if (data31 && typeof data31 == "object" && !Array.isArray(data31)) {
let missing2;
if (data31.id === undefined && (missing2 = "id")) {
validate65.errors = [{ instancePath: instancePath + "/audio/voice", schemaPath: "#/properties/audio/properties/voice/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data31.id !== undefined) {
if (typeof data31.id !== "string") {
validate65.errors = [{ instancePath: instancePath + "/audio/voice/id", schemaPath: "#/properties/audio/properties/voice/properties/id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
}
}
var valid7 = _errs58 === errors;
} else {
var valid7 = true;
}
if (valid7) {
if (data30.format !== undefined) {
let data33 = data30.format;
const _errs62 = errors;
if (!(data33 === "wav" || data33 === "aac" || data33 === "mp3" || data33 === "flac" || data33 === "opus" || data33 === "pcm16")) {
validate65.errors = [{ instancePath: instancePath + "/audio/format", schemaPath: "#/properties/audio/properties/format/enum", keyword: "enum", params: { allowedValues: schema81.properties.audio.properties.format.enum } }];
return false;
}
var valid7 = _errs62 === errors;
} else {
var valid7 = true;
}
}
}
}
}
var valid0 = _errs56 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.prediction !== undefined) {
let data34 = data.prediction;
const _errs63 = errors;
if (!(data34 && typeof data34 == "object" && !Array.isArray(data34)) && data34 !== null) {
validate65.errors = [{ instancePath: instancePath + "/prediction", schemaPath: "#/properties/prediction/type", keyword: "type", params: { type: schema81.properties.prediction.type } }];
return false;
}
if (errors === _errs63) {
if (data34 && typeof data34 == "object" && !Array.isArray(data34)) {
let missing3;
if (data34.type === undefined && (missing3 = "type") || data34.content === undefined && (missing3 = "content")) {
validate65.errors = [{ instancePath: instancePath + "/prediction", schemaPath: "#/properties/prediction/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data34.type !== undefined) {
const _errs65 = errors;
if (data34.type !== "content") {
validate65.errors = [{ instancePath: instancePath + "/prediction/type", schemaPath: "#/properties/prediction/properties/type/const", keyword: "const", params: { allowedValue: "content" } }];
return false;
}
var valid9 = _errs65 === errors;
} else {
var valid9 = true;
}
if (valid9) {
if (data34.content !== undefined) {
let data36 = data34.content;
const _errs66 = errors;
if (typeof data36 !== "string" && !Array.isArray(data36)) {
validate65.errors = [{ instancePath: instancePath + "/prediction/content", schemaPath: "#/properties/prediction/properties/content/type", keyword: "type", params: { type: schema81.properties.prediction.properties.content.type } }];
return false;
}
if (errors === _errs66) {
if (Array.isArray(data36)) {
if (data36.length < 1) {
validate65.errors = [{ instancePath: instancePath + "/prediction/content", schemaPath: "#/properties/prediction/properties/content/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid10 = true;
const len4 = data36.length;
for (let i4 = 0;i4 < len4; i4++) {
const _errs68 = errors;
if (!validate32(data36[i4], { instancePath: instancePath + "/prediction/content/" + i4, parentData: data36, parentDataProperty: i4, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate32.errors : vErrors.concat(validate32.errors);
errors = vErrors.length;
}
var valid10 = _errs68 === errors;
if (!valid10) {
break;
}
}
}
}
}
var valid9 = _errs66 === errors;
} else {
var valid9 = true;
}
}
}
}
}
var valid0 = _errs63 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.web_search_options !== undefined) {
let data38 = data.web_search_options;
const _errs69 = errors;
if (errors === _errs69) {
if (data38 && typeof data38 == "object" && !Array.isArray(data38)) {
if (data38.search_context_size !== undefined) {
let data39 = data38.search_context_size;
const _errs71 = errors;
if (!(data39 === "low" || data39 === "medium" || data39 === "high")) {
validate65.errors = [{ instancePath: instancePath + "/web_search_options/search_context_size", schemaPath: "#/properties/web_search_options/properties/search_context_size/enum", keyword: "enum", params: { allowedValues: schema81.properties.web_search_options.properties.search_context_size.enum } }];
return false;
}
var valid11 = _errs71 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data38.user_location !== undefined) {
let data40 = data38.user_location;
const _errs72 = errors;
if (!(data40 && typeof data40 == "object" && !Array.isArray(data40)) && data40 !== null) {
validate65.errors = [{ instancePath: instancePath + "/web_search_options/user_location", schemaPath: "#/properties/web_search_options/properties/user_location/type", keyword: "type", params: { type: schema81.properties.web_search_options.properties.user_location.type } }];
return false;
}
if (errors === _errs72) {
if (data40 && typeof data40 == "object" && !Array.isArray(data40)) {
let missing4;
if (data40.type === undefined && (missing4 = "type") || data40.approximate === undefined && (missing4 = "approximate")) {
validate65.errors = [{ instancePath: instancePath + "/web_search_options/user_location", schemaPath: "#/properties/web_search_options/properties/user_location/required", keyword: "required", params: { missingProperty: missing4 } }];
return false;
} else {
if (data40.type !== undefined) {
const _errs74 = errors;
if (data40.type !== "approximate") {
validate65.errors = [{ instancePath: instancePath + "/web_search_options/user_location/type", schemaPath: "#/properties/web_search_options/properties/user_location/properties/type/const", keyword: "const", params: { allowedValue: "approximate" } }];
return false;
}
var valid12 = _errs74 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data40.approximate !== undefined) {
let data42 = data40.approximate;
const _errs75 = errors;
if (errors === _errs75) {
if (data42 && typeof data42 == "object" && !Array.isArray(data42)) {
if (data42.country !== undefined) {
const _errs77 = errors;
if (typeof data42.country !== "string") {
validate65.errors = [{ instancePath: instancePath + "/web_search_options/user_location/approximate/country", schemaPath: "#/properties/web_search_options/properties/user_location/properties/approximate/properties/country/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid13 = _errs77 === errors;
} else {
var valid13 = true;
}
if (valid13) {
if (data42.region !== undefined) {
const _errs79 = errors;
if (typeof data42.region !== "string") {
validate65.errors = [{ instancePath: instancePath + "/web_search_options/user_location/approximate/region", schemaPath: "#/properties/web_search_options/properties/user_location/properties/approximate/properties/region/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid13 = _errs79 === errors;
} else {
var valid13 = true;
}
if (valid13) {
if (data42.city !== undefined) {
const _errs81 = errors;
if (typeof data42.city !== "string") {
validate65.errors = [{ instancePath: instancePath + "/web_search_options/user_location/approximate/city", schemaPath: "#/properties/web_search_options/properties/user_location/properties/approximate/properties/city/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid13 = _errs81 === errors;
} else {
var valid13 = true;
}
if (valid13) {
if (data42.timezone !== undefined) {
const _errs83 = errors;
if (typeof data42.timezone !== "string") {
validate65.errors = [{ instancePath: instancePath + "/web_search_options/user_location/approximate/timezone", schemaPath: "#/properties/web_search_options/properties/user_location/properties/approximate/properties/timezone/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid13 = _errs83 === errors;
} else {
var valid13 = true;
}
}
}
}
} else {
validate65.errors = [{ instancePath: instancePath + "/web_search_options/user_location/approximate", schemaPath: "#/properties/web_search_options/properties/user_location/properties/approximate/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid12 = _errs75 === errors;
} else {
var valid12 = true;
}
}
}
}
}
var valid11 = _errs72 === errors;
} else {
var valid11 = true;
}
}
} else {
validate65.errors = [{ instancePath: instancePath + "/web_search_options", schemaPath: "#/properties/web_search_options/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs69 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.service_tier !== undefined) {
let data47 = data.service_tier;
const _errs85 = errors;
if (typeof data47 !== "string" && data47 !== null) {
validate65.errors = [{ instancePath: instancePath + "/service_tier", schemaPath: "#/properties/service_tier/type", keyword: "type", params: { type: schema81.properties.service_tier.type } }];
return false;
}
var valid0 = _errs85 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.store !== undefined) {
let data48 = data.store;
const _errs87 = errors;
if (typeof data48 !== "boolean" && data48 !== null) {
validate65.errors = [{ instancePath: instancePath + "/store", schemaPath: "#/properties/store/type", keyword: "type", params: { type: schema81.properties.store.type } }];
return false;
}
var valid0 = _errs87 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.metadata !== undefined) {
let data49 = data.metadata;
const _errs89 = errors;
if (!(data49 && typeof data49 == "object" && !Array.isArray(data49)) && data49 !== null) {
validate65.errors = [{ instancePath: instancePath + "/metadata", schemaPath: "#/properties/metadata/type", keyword: "type", params: { type: schema81.properties.metadata.type } }];
return false;
}
if (errors === _errs89) {
if (data49 && typeof data49 == "object" && !Array.isArray(data49)) {
for (const key1 in data49) {
const _errs92 = errors;
if (typeof data49[key1] !== "string") {
validate65.errors = [{ instancePath: instancePath + "/metadata/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/metadata/additionalProperties/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid14 = _errs92 === errors;
if (!valid14) {
break;
}
}
}
}
var valid0 = _errs89 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.user !== undefined) {
const _errs94 = errors;
if (typeof data.user !== "string") {
validate65.errors = [{ instancePath: instancePath + "/user", schemaPath: "#/properties/user/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs94 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.safety_identifier !== undefined) {
let data52 = data.safety_identifier;
const _errs96 = errors;
if (typeof data52 !== "string" && data52 !== null) {
validate65.errors = [{ instancePath: instancePath + "/safety_identifier", schemaPath: "#/properties/safety_identifier/type", keyword: "type", params: { type: schema81.properties.safety_identifier.type } }];
return false;
}
var valid0 = _errs96 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.prompt_cache_key !== undefined) {
let data53 = data.prompt_cache_key;
const _errs98 = errors;
if (typeof data53 !== "string" && data53 !== null) {
validate65.errors = [{ instancePath: instancePath + "/prompt_cache_key", schemaPath: "#/properties/prompt_cache_key/type", keyword: "type", params: { type: schema81.properties.prompt_cache_key.type } }];
return false;
}
var valid0 = _errs98 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.functions !== undefined) {
let data54 = data.functions;
const _errs100 = errors;
if (errors === _errs100) {
if (Array.isArray(data54)) {
var valid15 = true;
const len5 = data54.length;
for (let i5 = 0;i5 < len5; i5++) {
let data55 = data54[i5];
const _errs102 = errors;
if (errors === _errs102) {
if (data55 && typeof data55 == "object" && !Array.isArray(data55)) {
let missing5;
if (data55.name === undefined && (missing5 = "name")) {
validate65.errors = [{ instancePath: instancePath + "/functions/" + i5, schemaPath: "#/properties/functions/items/required", keyword: "required", params: { missingProperty: missing5 } }];
return false;
} else {
if (data55.name !== undefined) {
if (typeof data55.name !== "string") {
validate65.errors = [{ instancePath: instancePath + "/functions/" + i5 + "/name", schemaPath: "#/properties/functions/items/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
} else {
validate65.errors = [{ instancePath: instancePath + "/functions/" + i5, schemaPath: "#/properties/functions/items/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid15 = _errs102 === errors;
if (!valid15) {
break;
}
}
} else {
validate65.errors = [{ instancePath: instancePath + "/functions", schemaPath: "#/properties/functions/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs100 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.function_call !== undefined) {
let data57 = data.function_call;
const _errs106 = errors;
if (typeof data57 !== "string" && !(data57 && typeof data57 == "object" && !Array.isArray(data57))) {
validate65.errors = [{ instancePath: instancePath + "/function_call", schemaPath: "#/properties/function_call/type", keyword: "type", params: { type: schema81.properties.function_call.type } }];
return false;
}
if (errors === _errs106) {
if (data57 && typeof data57 == "object" && !Array.isArray(data57)) {
let missing6;
if (data57.name === undefined && (missing6 = "name")) {
validate65.errors = [{ instancePath: instancePath + "/function_call", schemaPath: "#/properties/function_call/required", keyword: "required", params: { missingProperty: missing6 } }];
return false;
} else {
if (data57.name !== undefined) {
if (typeof data57.name !== "string") {
validate65.errors = [{ instancePath: instancePath + "/function_call/name", schemaPath: "#/properties/function_call/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
}
}
var valid0 = _errs106 === errors;
} else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
} else {
validate65.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate65.errors = vErrors;
return errors === 0;
}
validate65.evaluated = { props: { model: true, messages: true, stream: true, stream_options: true, max_completion_tokens: true, max_tokens: true, temperature: true, top_p: true, n: true, stop: true, frequency_penalty: true, presence_penalty: true, logit_bias: true, logprobs: true, top_logprobs: true, seed: true, tools: true, tool_choice: true, parallel_tool_calls: true, response_format: true, reasoning_effort: true, verbosity: true, modalities: true, audio: true, prediction: true, web_search_options: true, service_tier: true, store: true, metadata: true, user: true, safety_identifier: true, prompt_cache_key: true, functions: true, function_call: true }, dynamicProps: false, dynamicItems: false };
var validateChatCompletionChunk = validate75;
var schema92 = { type: "object", required: ["id", "object", "created", "model", "choices"], properties: { id: { type: "string" }, object: { const: "chat.completion.chunk" }, created: { type: "integer" }, model: { type: "string" }, choices: { type: "array", items: { $ref: "ChatChunkChoice" } }, usage: { anyOf: [{ $ref: "TokenUsageReport" }, { type: "null" }] }, service_tier: { type: ["string", "null"] }, system_fingerprint: { type: ["string", "null"] } } };
var schema96 = { type: "string", enum: ["stop", "length", "tool_calls", "content_filter", "function_call"] };
var schema94 = { type: "object", properties: { role: { type: "string", enum: ["developer", "system", "user", "assistant", "tool"] }, content: { type: ["string", "null"] }, refusal: { type: ["string", "null"] }, reasoning_content: { type: ["string", "null"] }, tool_calls: { type: "array", items: { $ref: "ToolCallDelta" } }, function_call: { type: ["object", "null"], properties: { name: { type: "string" }, arguments: { type: "string" } } } } };
function validate77(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate77.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
if (data.role !== undefined) {
let data0 = data.role;
const _errs1 = errors;
if (typeof data0 !== "string") {
validate77.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/properties/role/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "developer" || data0 === "system" || data0 === "user" || data0 === "assistant" || data0 === "tool")) {
validate77.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/properties/role/enum", keyword: "enum", params: { allowedValues: schema94.properties.role.enum } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.content !== undefined) {
let data1 = data.content;
const _errs3 = errors;
if (typeof data1 !== "string" && data1 !== null) {
validate77.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: schema94.properties.content.type } }];
return false;
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.refusal !== undefined) {
let data2 = data.refusal;
const _errs5 = errors;
if (typeof data2 !== "string" && data2 !== null) {
validate77.errors = [{ instancePath: instancePath + "/refusal", schemaPath: "#/properties/refusal/type", keyword: "type", params: { type: schema94.properties.refusal.type } }];
return false;
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.reasoning_content !== undefined) {
let data3 = data.reasoning_content;
const _errs7 = errors;
if (typeof data3 !== "string" && data3 !== null) {
validate77.errors = [{ instancePath: instancePath + "/reasoning_content", schemaPath: "#/properties/reasoning_content/type", keyword: "type", params: { type: schema94.properties.reasoning_content.type } }];
return false;
}
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.tool_calls !== undefined) {
let data4 = data.tool_calls;
const _errs9 = errors;
if (errors === _errs9) {
if (Array.isArray(data4)) {
var valid1 = true;
const len0 = data4.length;
for (let i0 = 0;i0 < len0; i0++) {
let data5 = data4[i0];
const _errs11 = errors;
const _errs12 = errors;
if (errors === _errs12) {
if (data5 && typeof data5 == "object" && !Array.isArray(data5)) {
let missing0;
if (data5.index === undefined && (missing0 = "index")) {
validate77.errors = [{ instancePath: instancePath + "/tool_calls/" + i0, schemaPath: "ToolCallDelta/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data5.index !== undefined) {
let data6 = data5.index;
const _errs14 = errors;
if (!(typeof data6 == "number" && (!(data6 % 1) && !isNaN(data6)) && isFinite(data6))) {
validate77.errors = [{ instancePath: instancePath + "/tool_calls/" + i0 + "/index", schemaPath: "ToolCallDelta/properties/index/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs14) {
if (typeof data6 == "number" && isFinite(data6)) {
if (data6 < 0 || isNaN(data6)) {
validate77.errors = [{ instancePath: instancePath + "/tool_calls/" + i0 + "/index", schemaPath: "ToolCallDelta/properties/index/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid3 = _errs14 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data5.id !== undefined) {
const _errs16 = errors;
if (typeof data5.id !== "string") {
validate77.errors = [{ instancePath: instancePath + "/tool_calls/" + i0 + "/id", schemaPath: "ToolCallDelta/properties/id/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid3 = _errs16 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data5.type !== undefined) {
const _errs18 = errors;
if (typeof data5.type !== "string") {
validate77.errors = [{ instancePath: instancePath + "/tool_calls/" + i0 + "/type", schemaPath: "ToolCallDelta/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid3 = _errs18 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data5.function !== undefined) {
let data9 = data5.function;
const _errs20 = errors;
if (errors === _errs20) {
if (data9 && typeof data9 == "object" && !Array.isArray(data9)) {
if (data9.name !== undefined) {
const _errs22 = errors;
if (typeof data9.name !== "string") {
validate77.errors = [{ instancePath: instancePath + "/tool_calls/" + i0 + "/function/name", schemaPath: "ToolCallDelta/properties/function/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid4 = _errs22 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data9.arguments !== undefined) {
const _errs24 = errors;
if (typeof data9.arguments !== "string") {
validate77.errors = [{ instancePath: instancePath + "/tool_calls/" + i0 + "/function/arguments", schemaPath: "ToolCallDelta/properties/function/properties/arguments/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid4 = _errs24 === errors;
} else {
var valid4 = true;
}
}
} else {
validate77.errors = [{ instancePath: instancePath + "/tool_calls/" + i0 + "/function", schemaPath: "ToolCallDelta/properties/function/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid3 = _errs20 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data5.custom !== undefined) {
let data12 = data5.custom;
const _errs26 = errors;
if (errors === _errs26) {
if (data12 && typeof data12 == "object" && !Array.isArray(data12)) {
if (data12.name !== undefined) {
const _errs28 = errors;
if (typeof data12.name !== "string") {
validate77.errors = [{ instancePath: instancePath + "/tool_calls/" + i0 + "/custom/name", schemaPath: "ToolCallDelta/properties/custom/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid5 = _errs28 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data12.input !== undefined) {
const _errs30 = errors;
if (typeof data12.input !== "string") {
validate77.errors = [{ instancePath: instancePath + "/tool_calls/" + i0 + "/custom/input", schemaPath: "ToolCallDelta/properties/custom/properties/input/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid5 = _errs30 === errors;
} else {
var valid5 = true;
}
}
} else {
validate77.errors = [{ instancePath: instancePath + "/tool_calls/" + i0 + "/custom", schemaPath: "ToolCallDelta/properties/custom/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid3 = _errs26 === errors;
} else {
var valid3 = true;
}
}
}
}
}
}
} else {
validate77.errors = [{ instancePath: instancePath + "/tool_calls/" + i0, schemaPath: "ToolCallDelta/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid1 = _errs11 === errors;
if (!valid1) {
break;
}
}
} else {
validate77.errors = [{ instancePath: instancePath + "/tool_calls", schemaPath: "#/properties/tool_calls/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs9 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.function_call !== undefined) {
let data15 = data.function_call;
const _errs32 = errors;
if (!(data15 && typeof data15 == "object" && !Array.isArray(data15)) && data15 !== null) {
validate77.errors = [{ instancePath: instancePath + "/function_call", schemaPath: "#/properties/function_call/type", keyword: "type", params: { type: schema94.properties.function_call.type } }];
return false;
}
if (errors === _errs32) {
if (data15 && typeof data15 == "object" && !Array.isArray(data15)) {
if (data15.name !== undefined) {
const _errs34 = errors;
if (typeof data15.name !== "string") {
validate77.errors = [{ instancePath: instancePath + "/function_call/name", schemaPath: "#/properties/function_call/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid6 = _errs34 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data15.arguments !== undefined) {
const _errs36 = errors;
if (typeof data15.arguments !== "string") {
validate77.errors = [{ instancePath: instancePath + "/function_call/arguments", schemaPath: "#/properties/function_call/properties/arguments/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid6 = _errs36 === errors;
} else {
var valid6 = true;
}
}
}
}
var valid0 = _errs32 === errors;
} else {
var valid0 = true;
}
}
}
}
}
}
} else {
validate77.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate77.errors = vErrors;
return errors === 0;
}
validate77.evaluated = { props: { role: true, content: true, refusal: true, reasoning_content: true, tool_calls: true, function_call: true }, dynamicProps: false, dynamicItems: false };
function validate76(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate76.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.index === undefined && (missing0 = "index") || data.delta === undefined && (missing0 = "delta") || data.finish_reason === undefined && (missing0 = "finish_reason")) {
validate76.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.index !== undefined) {
let data0 = data.index;
const _errs1 = errors;
if (!(typeof data0 == "number" && (!(data0 % 1) && !isNaN(data0)) && isFinite(data0))) {
validate76.errors = [{ instancePath: instancePath + "/index", schemaPath: "#/properties/index/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs1) {
if (typeof data0 == "number" && isFinite(data0)) {
if (data0 < 0 || isNaN(data0)) {
validate76.errors = [{ instancePath: instancePath + "/index", schemaPath: "#/properties/index/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.delta !== undefined) {
const _errs3 = errors;
if (!validate77(data.delta, { instancePath: instancePath + "/delta", parentData: data, parentDataProperty: "delta", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate77.errors : vErrors.concat(validate77.errors);
errors = vErrors.length;
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.finish_reason !== undefined) {
let data2 = data.finish_reason;
const _errs4 = errors;
const _errs5 = errors;
let valid1 = false;
const _errs6 = errors;
if (typeof data2 !== "string") {
const err0 = { instancePath: instancePath + "/finish_reason", schemaPath: "FinishReason/type", keyword: "type", params: { type: "string" } };
if (vErrors === null) {
vErrors = [err0];
} else {
vErrors.push(err0);
}
errors++;
}
if (!(data2 === "stop" || data2 === "length" || data2 === "tool_calls" || data2 === "content_filter" || data2 === "function_call")) {
const err1 = { instancePath: instancePath + "/finish_reason", schemaPath: "FinishReason/enum", keyword: "enum", params: { allowedValues: schema96.enum } };
if (vErrors === null) {
vErrors = [err1];
} else {
vErrors.push(err1);
}
errors++;
}
var _valid0 = _errs6 === errors;
valid1 = valid1 || _valid0;
const _errs9 = errors;
if (data2 !== null) {
const err2 = { instancePath: instancePath + "/finish_reason", schemaPath: "#/properties/finish_reason/anyOf/1/type", keyword: "type", params: { type: "null" } };
if (vErrors === null) {
vErrors = [err2];
} else {
vErrors.push(err2);
}
errors++;
}
var _valid0 = _errs9 === errors;
valid1 = valid1 || _valid0;
if (!valid1) {
const err3 = { instancePath: instancePath + "/finish_reason", schemaPath: "#/properties/finish_reason/anyOf", keyword: "anyOf", params: {} };
if (vErrors === null) {
vErrors = [err3];
} else {
vErrors.push(err3);
}
errors++;
validate76.errors = vErrors;
return false;
} else {
errors = _errs5;
if (vErrors !== null) {
if (_errs5) {
vErrors.length = _errs5;
} else {
vErrors = null;
}
}
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.logprobs !== undefined) {
let data3 = data.logprobs;
const _errs11 = errors;
const _errs12 = errors;
let valid3 = false;
const _errs13 = errors;
if (!validate26(data3, { instancePath: instancePath + "/logprobs", parentData: data, parentDataProperty: "logprobs", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate26.errors : vErrors.concat(validate26.errors);
errors = vErrors.length;
}
var _valid1 = _errs13 === errors;
valid3 = valid3 || _valid1;
if (_valid1) {
var props0 = {};
props0.content = true;
props0.refusal = true;
}
const _errs14 = errors;
if (data3 !== null) {
const err4 = { instancePath: instancePath + "/logprobs", schemaPath: "#/properties/logprobs/anyOf/1/type", keyword: "type", params: { type: "null" } };
if (vErrors === null) {
vErrors = [err4];
} else {
vErrors.push(err4);
}
errors++;
}
var _valid1 = _errs14 === errors;
valid3 = valid3 || _valid1;
if (!valid3) {
const err5 = { instancePath: instancePath + "/logprobs", schemaPath: "#/properties/logprobs/anyOf", keyword: "anyOf", params: {} };
if (vErrors === null) {
vErrors = [err5];
} else {
vErrors.push(err5);
}
errors++;
validate76.errors = vErrors;
return false;
} else {
errors = _errs12;
if (vErrors !== null) {
if (_errs12) {
vErrors.length = _errs12;
} else {
vErrors = null;
}
}
}
var valid0 = _errs11 === errors;
} else {
var valid0 = true;
}
}
}
}
}
} else {
validate76.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate76.errors = vErrors;
return errors === 0;
}
validate76.evaluated = { props: { index: true, delta: true, finish_reason: true, logprobs: true }, dynamicProps: false, dynamicItems: false };
function validate75(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate75.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.id === undefined && (missing0 = "id") || data.object === undefined && (missing0 = "object") || data.created === undefined && (missing0 = "created") || data.model === undefined && (missing0 = "model") || data.choices === undefined && (missing0 = "choices")) {
validate75.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.id !== undefined) {
const _errs1 = errors;
if (typeof data.id !== "string") {
validate75.errors = [{ instancePath: instancePath + "/id", schemaPath: "#/properties/id/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.object !== undefined) {
const _errs3 = errors;
if (data.object !== "chat.completion.chunk") {
validate75.errors = [{ instancePath: instancePath + "/object", schemaPath: "#/properties/object/const", keyword: "const", params: { allowedValue: "chat.completion.chunk" } }];
return false;
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.created !== undefined) {
let data2 = data.created;
const _errs4 = errors;
if (!(typeof data2 == "number" && (!(data2 % 1) && !isNaN(data2)) && isFinite(data2))) {
validate75.errors = [{ instancePath: instancePath + "/created", schemaPath: "#/properties/created/type", keyword: "type", params: { type: "integer" } }];
return false;
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.model !== undefined) {
const _errs6 = errors;
if (typeof data.model !== "string") {
validate75.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs6 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.choices !== undefined) {
let data4 = data.choices;
const _errs8 = errors;
if (errors === _errs8) {
if (Array.isArray(data4)) {
var valid1 = true;
const len0 = data4.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs10 = errors;
if (!validate76(data4[i0], { instancePath: instancePath + "/choices/" + i0, parentData: data4, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate76.errors : vErrors.concat(validate76.errors);
errors = vErrors.length;
}
var valid1 = _errs10 === errors;
if (!valid1) {
break;
}
}
} else {
validate75.errors = [{ instancePath: instancePath + "/choices", schemaPath: "#/properties/choices/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs8 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.usage !== undefined) {
let data6 = data.usage;
const _errs11 = errors;
const _errs12 = errors;
let valid2 = false;
const _errs13 = errors;
const _errs14 = errors;
if (errors === _errs14) {
if (data6 && typeof data6 == "object" && !Array.isArray(data6)) {
let missing1;
if (data6.prompt_tokens === undefined && (missing1 = "prompt_tokens") || data6.completion_tokens === undefined && (missing1 = "completion_tokens") || data6.total_tokens === undefined && (missing1 = "total_tokens")) {
const err0 = { instancePath: instancePath + "/usage", schemaPath: "TokenUsageReport/required", keyword: "required", params: { missingProperty: missing1 } };
if (vErrors === null) {
vErrors = [err0];
} else {
vErrors.push(err0);
}
errors++;
} else {
if (data6.prompt_tokens !== undefined) {
let data7 = data6.prompt_tokens;
const _errs16 = errors;
if (!(typeof data7 == "number" && (!(data7 % 1) && !isNaN(data7)) && isFinite(data7))) {
const err1 = { instancePath: instancePath + "/usage/prompt_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens/type", keyword: "type", params: { type: "integer" } };
if (vErrors === null) {
vErrors = [err1];
} else {
vErrors.push(err1);
}
errors++;
}
if (errors === _errs16) {
if (typeof data7 == "number" && isFinite(data7)) {
if (data7 < 0 || isNaN(data7)) {
const err2 = { instancePath: instancePath + "/usage/prompt_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } };
if (vErrors === null) {
vErrors = [err2];
} else {
vErrors.push(err2);
}
errors++;
}
}
}
var valid4 = _errs16 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data6.completion_tokens !== undefined) {
let data8 = data6.completion_tokens;
const _errs18 = errors;
if (!(typeof data8 == "number" && (!(data8 % 1) && !isNaN(data8)) && isFinite(data8))) {
const err3 = { instancePath: instancePath + "/usage/completion_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens/type", keyword: "type", params: { type: "integer" } };
if (vErrors === null) {
vErrors = [err3];
} else {
vErrors.push(err3);
}
errors++;
}
if (errors === _errs18) {
if (typeof data8 == "number" && isFinite(data8)) {
if (data8 < 0 || isNaN(data8)) {
const err4 = { instancePath: instancePath + "/usage/completion_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } };
if (vErrors === null) {
vErrors = [err4];
} else {
vErrors.push(err4);
}
errors++;
}
}
}
var valid4 = _errs18 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data6.total_tokens !== undefined) {
let data9 = data6.total_tokens;
const _errs20 = errors;
if (!(typeof data9 == "number" && (!(data9 % 1) && !isNaN(data9)) && isFinite(data9))) {
const err5 = { instancePath: instancePath + "/usage/total_tokens", schemaPath: "TokenUsageReport/properties/total_tokens/type", keyword: "type", params: { type: "integer" } };
if (vErrors === null) {
vErrors = [err5];
} else {
vErrors.push(err5);
}
errors++;
}
if (errors === _errs20) {
if (typeof data9 == "number" && isFinite(data9)) {
if (data9 < 0 || isNaN(data9)) {
const err6 = { instancePath: instancePath + "/usage/total_tokens", schemaPath: "TokenUsageReport/properties/total_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } };
if (vErrors === null) {
vErrors = [err6];
} else {
vErrors.push(err6);
}
errors++;
}
}
}
var valid4 = _errs20 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data6.prompt_tokens_details !== undefined) {
let data10 = data6.prompt_tokens_details;
const _errs22 = errors;
if (errors === _errs22) {
if (data10 && typeof data10 == "object" && !Array.isArray(data10)) {
if (data10.cached_tokens !== undefined) {
let data11 = data10.cached_tokens;
const _errs24 = errors;
if (!(typeof data11 == "number" && (!(data11 % 1) && !isNaN(data11)) && isFinite(data11))) {
const err7 = { instancePath: instancePath + "/usage/prompt_tokens_details/cached_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/cached_tokens/type", keyword: "type", params: { type: "integer" } };
if (vErrors === null) {
vErrors = [err7];
} else {
vErrors.push(err7);
}
errors++;
}
if (errors === _errs24) {
if (typeof data11 == "number" && isFinite(data11)) {
if (data11 < 0 || isNaN(data11)) {
const err8 = { instancePath: instancePath + "/usage/prompt_tokens_details/cached_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/cached_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } };
if (vErrors === null) {
vErrors = [err8];
} else {
vErrors.push(err8);
}
errors++;
}
}
}
var valid5 = _errs24 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data10.cache_write_tokens !== undefined) {
let data12 = data10.cache_write_tokens;
const _errs26 = errors;
if (!(typeof data12 == "number" && (!(data12 % 1) && !isNaN(data12)) && isFinite(data12))) {
const err9 = { instancePath: instancePath + "/usage/prompt_tokens_details/cache_write_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/cache_write_tokens/type", keyword: "type", params: { type: "integer" } };
if (vErrors === null) {
vErrors = [err9];
} else {
vErrors.push(err9);
}
errors++;
}
if (errors === _errs26) {
if (typeof data12 == "number" && isFinite(data12)) {
if (data12 < 0 || isNaN(data12)) {
const err10 = { instancePath: instancePath + "/usage/prompt_tokens_details/cache_write_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/cache_write_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } };
if (vErrors === null) {
vErrors = [err10];
} else {
vErrors.push(err10);
}
errors++;
}
}
}
var valid5 = _errs26 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data10.audio_tokens !== undefined) {
let data13 = data10.audio_tokens;
const _errs28 = errors;
if (!(typeof data13 == "number" && (!(data13 % 1) && !isNaN(data13)) && isFinite(data13))) {
const err11 = { instancePath: instancePath + "/usage/prompt_tokens_details/audio_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/audio_tokens/type", keyword: "type", params: { type: "integer" } };
if (vErrors === null) {
vErrors = [err11];
} else {
vErrors.push(err11);
}
errors++;
}
if (errors === _errs28) {
if (typeof data13 == "number" && isFinite(data13)) {
if (data13 < 0 || isNaN(data13)) {
const err12 = { instancePath: instancePath + "/usage/prompt_tokens_details/audio_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/audio_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } };
if (vErrors === null) {
vErrors = [err12];
} else {
vErrors.push(err12);
}
errors++;
}
}
}
var valid5 = _errs28 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data10.image_tokens !== undefined) {
let data14 = data10.image_tokens;
const _errs30 = errors;
if (!(typeof data14 == "number" && (!(data14 % 1) && !isNaN(data14)) && isFinite(data14))) {
const err13 = { instancePath: instancePath + "/usage/prompt_tokens_details/image_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/image_tokens/type", keyword: "type", params: { type: "integer" } };
if (vErrors === null) {
vErrors = [err13];
} else {
vErrors.push(err13);
}
errors++;
}
if (errors === _errs30) {
if (typeof data14 == "number" && isFinite(data14)) {
if (data14 < 0 || isNaN(data14)) {
const err14 = { instancePath: instancePath + "/usage/prompt_tokens_details/image_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/image_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } };
if (vErrors === null) {
vErrors = [err14];
} else {
vErrors.push(err14);
}
errors++;
}
}
}
var valid5 = _errs30 === errors;
} else {
var valid5 = true;
}
}
}
}
} else {
const err15 = { instancePath: instancePath + "/usage/prompt_tokens_details", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/type", keyword: "type", params: { type: "object" } };
if (vErrors === null) {
vErrors = [err15];
} else {
vErrors.push(err15);
}
errors++;
}
}
var valid4 = _errs22 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data6.completion_tokens_details !== undefined) {
let data15 = data6.completion_tokens_details;
const _errs32 = errors;
if (errors === _errs32) {
if (data15 && typeof data15 == "object" && !Array.isArray(data15)) {
if (data15.reasoning_tokens !== undefined) {
let data16 = data15.reasoning_tokens;
const _errs34 = errors;
if (!(typeof data16 == "number" && (!(data16 % 1) && !isNaN(data16)) && isFinite(data16))) {
const err16 = { instancePath: instancePath + "/usage/completion_tokens_details/reasoning_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/reasoning_tokens/type", keyword: "type", params: { type: "integer" } };
if (vErrors === null) {
vErrors = [err16];
} else {
vErrors.push(err16);
}
errors++;
}
if (errors === _errs34) {
if (typeof data16 == "number" && isFinite(data16)) {
if (data16 < 0 || isNaN(data16)) {
const err17 = { instancePath: instancePath + "/usage/completion_tokens_details/reasoning_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/reasoning_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } };
if (vErrors === null) {
vErrors = [err17];
} else {
vErrors.push(err17);
}
errors++;
}
}
}
var valid6 = _errs34 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data15.audio_tokens !== undefined) {
let data17 = data15.audio_tokens;
const _errs36 = errors;
if (!(typeof data17 == "number" && (!(data17 % 1) && !isNaN(data17)) && isFinite(data17))) {
const err18 = { instancePath: instancePath + "/usage/completion_tokens_details/audio_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/audio_tokens/type", keyword: "type", params: { type: "integer" } };
if (vErrors === null) {
vErrors = [err18];
} else {
vErrors.push(err18);
}
errors++;
}
if (errors === _errs36) {
if (typeof data17 == "number" && isFinite(data17)) {
if (data17 < 0 || isNaN(data17)) {
const err19 = { instancePath: instancePath + "/usage/completion_tokens_details/audio_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/audio_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } };
if (vErrors === null) {
vErrors = [err19];
} else {
vErrors.push(err19);
}
errors++;
}
}
}
var valid6 = _errs36 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data15.image_tokens !== undefined) {
let data18 = data15.image_tokens;
const _errs38 = errors;
if (!(typeof data18 == "number" && (!(data18 % 1) && !isNaN(data18)) && isFinite(data18))) {
const err20 = { instancePath: instancePath + "/usage/completion_tokens_details/image_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/image_tokens/type", keyword: "type", params: { type: "integer" } };
if (vErrors === null) {
vErrors = [err20];
} else {
vErrors.push(err20);
}
errors++;
}
if (errors === _errs38) {
if (typeof data18 == "number" && isFinite(data18)) {
if (data18 < 0 || isNaN(data18)) {
const err21 = { instancePath: instancePath + "/usage/completion_tokens_details/image_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/image_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } };
if (vErrors === null) {
vErrors = [err21];
} else {
vErrors.push(err21);
}
errors++;
}
}
}
var valid6 = _errs38 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data15.accepted_prediction_tokens !== undefined) {
let data19 = data15.accepted_prediction_tokens;
const _errs40 = errors;
if (!(typeof data19 == "number" && (!(data19 % 1) && !isNaN(data19)) && isFinite(data19))) {
const err22 = { instancePath: instancePath + "/usage/completion_tokens_details/accepted_prediction_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/accepted_prediction_tokens/type", keyword: "type", params: { type: "integer" } };
if (vErrors === null) {
vErrors = [err22];
} else {
vErrors.push(err22);
}
errors++;
}
if (errors === _errs40) {
if (typeof data19 == "number" && isFinite(data19)) {
if (data19 < 0 || isNaN(data19)) {
const err23 = { instancePath: instancePath + "/usage/completion_tokens_details/accepted_prediction_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/accepted_prediction_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } };
if (vErrors === null) {
vErrors = [err23];
} else {
vErrors.push(err23);
}
errors++;
}
}
}
var valid6 = _errs40 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data15.rejected_prediction_tokens !== undefined) {
let data20 = data15.rejected_prediction_tokens;
const _errs42 = errors;
if (!(typeof data20 == "number" && (!(data20 % 1) && !isNaN(data20)) && isFinite(data20))) {
const err24 = { instancePath: instancePath + "/usage/completion_tokens_details/rejected_prediction_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/rejected_prediction_tokens/type", keyword: "type", params: { type: "integer" } };
if (vErrors === null) {
vErrors = [err24];
} else {
vErrors.push(err24);
}
errors++;
}
if (errors === _errs42) {
if (typeof data20 == "number" && isFinite(data20)) {
if (data20 < 0 || isNaN(data20)) {
const err25 = { instancePath: instancePath + "/usage/completion_tokens_details/rejected_prediction_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/rejected_prediction_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } };
if (vErrors === null) {
vErrors = [err25];
} else {
vErrors.push(err25);
}
errors++;
}
}
}
var valid6 = _errs42 === errors;
} else {
var valid6 = true;
}
}
}
}
}
} else {
const err26 = { instancePath: instancePath + "/usage/completion_tokens_details", schemaPath: "TokenUsageReport/properties/completion_tokens_details/type", keyword: "type", params: { type: "object" } };
if (vErrors === null) {
vErrors = [err26];
} else {
vErrors.push(err26);
}
errors++;
}
}
var valid4 = _errs32 === errors;
} else {
var valid4 = true;
}
}
}
}
}
}
} else {
const err27 = { instancePath: instancePath + "/usage", schemaPath: "TokenUsageReport/type", keyword: "type", params: { type: "object" } };
if (vErrors === null) {
vErrors = [err27];
} else {
vErrors.push(err27);
}
errors++;
}
}
var _valid0 = _errs13 === errors;
valid2 = valid2 || _valid0;
if (_valid0) {
var props0 = {};
props0.prompt_tokens = true;
props0.completion_tokens = true;
props0.total_tokens = true;
props0.prompt_tokens_details = true;
props0.completion_tokens_details = true;
}
const _errs44 = errors;
if (data6 !== null) {
const err28 = { instancePath: instancePath + "/usage", schemaPath: "#/properties/usage/anyOf/1/type", keyword: "type", params: { type: "null" } };
if (vErrors === null) {
vErrors = [err28];
} else {
vErrors.push(err28);
}
errors++;
}
var _valid0 = _errs44 === errors;
valid2 = valid2 || _valid0;
if (!valid2) {
const err29 = { instancePath: instancePath + "/usage", schemaPath: "#/properties/usage/anyOf", keyword: "anyOf", params: {} };
if (vErrors === null) {
vErrors = [err29];
} else {
vErrors.push(err29);
}
errors++;
validate75.errors = vErrors;
return false;
} else {
errors = _errs12;
if (vErrors !== null) {
if (_errs12) {
vErrors.length = _errs12;
} else {
vErrors = null;
}
}
}
var valid0 = _errs11 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.service_tier !== undefined) {
let data21 = data.service_tier;
const _errs46 = errors;
if (typeof data21 !== "string" && data21 !== null) {
validate75.errors = [{ instancePath: instancePath + "/service_tier", schemaPath: "#/properties/service_tier/type", keyword: "type", params: { type: schema92.properties.service_tier.type } }];
return false;
}
var valid0 = _errs46 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.system_fingerprint !== undefined) {
let data22 = data.system_fingerprint;
const _errs48 = errors;
if (typeof data22 !== "string" && data22 !== null) {
validate75.errors = [{ instancePath: instancePath + "/system_fingerprint", schemaPath: "#/properties/system_fingerprint/type", keyword: "type", params: { type: schema92.properties.system_fingerprint.type } }];
return false;
}
var valid0 = _errs48 === errors;
} else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
} else {
validate75.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate75.errors = vErrors;
return errors === 0;
}
validate75.evaluated = { props: { id: true, object: true, created: true, model: true, choices: true, usage: true, service_tier: true, system_fingerprint: true }, dynamicProps: false, dynamicItems: false };
var validateChatCompletion = validate81;
var schema98 = { type: "object", required: ["id", "object", "created", "model", "choices"], properties: { id: { type: "string" }, object: { const: "chat.completion" }, created: { type: "integer" }, model: { type: "string" }, choices: { type: "array", items: { $ref: "ChatChoice" } }, usage: { $ref: "TokenUsageReport" }, service_tier: { type: ["string", "null"] }, system_fingerprint: { type: ["string", "null"] } } };
var schema100 = { type: "object", required: ["role", "content"], properties: { role: { const: "assistant" }, content: { type: ["string", "null"] }, refusal: { type: ["string", "null"] }, reasoning_content: { type: ["string", "null"] }, tool_calls: { type: "array", items: { $ref: "ToolCall" } }, function_call: { type: ["object", "null"], required: ["name", "arguments"], properties: { name: { type: "string" }, arguments: { type: "string" } } }, annotations: { type: "array", items: { type: "object" } }, audio: { type: ["object", "null"], required: ["id", "data", "transcript"], properties: { id: { type: "string" }, data: { type: "string" }, transcript: { type: "string" }, expires_at: { type: "integer" } } } } };
function validate83(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate83.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.role === undefined && (missing0 = "role") || data.content === undefined && (missing0 = "content")) {
validate83.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.role !== undefined) {
const _errs1 = errors;
if (data.role !== "assistant") {
validate83.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/properties/role/const", keyword: "const", params: { allowedValue: "assistant" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.content !== undefined) {
let data1 = data.content;
const _errs2 = errors;
if (typeof data1 !== "string" && data1 !== null) {
validate83.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: schema100.properties.content.type } }];
return false;
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.refusal !== undefined) {
let data2 = data.refusal;
const _errs4 = errors;
if (typeof data2 !== "string" && data2 !== null) {
validate83.errors = [{ instancePath: instancePath + "/refusal", schemaPath: "#/properties/refusal/type", keyword: "type", params: { type: schema100.properties.refusal.type } }];
return false;
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.reasoning_content !== undefined) {
let data3 = data.reasoning_content;
const _errs6 = errors;
if (typeof data3 !== "string" && data3 !== null) {
validate83.errors = [{ instancePath: instancePath + "/reasoning_content", schemaPath: "#/properties/reasoning_content/type", keyword: "type", params: { type: schema100.properties.reasoning_content.type } }];
return false;
}
var valid0 = _errs6 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.tool_calls !== undefined) {
let data4 = data.tool_calls;
const _errs8 = errors;
if (errors === _errs8) {
if (Array.isArray(data4)) {
var valid1 = true;
const len0 = data4.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs10 = errors;
if (!validate42(data4[i0], { instancePath: instancePath + "/tool_calls/" + i0, parentData: data4, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate42.errors : vErrors.concat(validate42.errors);
errors = vErrors.length;
}
var valid1 = _errs10 === errors;
if (!valid1) {
break;
}
}
} else {
validate83.errors = [{ instancePath: instancePath + "/tool_calls", schemaPath: "#/properties/tool_calls/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs8 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.function_call !== undefined) {
let data6 = data.function_call;
const _errs11 = errors;
if (!(data6 && typeof data6 == "object" && !Array.isArray(data6)) && data6 !== null) {
validate83.errors = [{ instancePath: instancePath + "/function_call", schemaPath: "#/properties/function_call/type", keyword: "type", params: { type: schema100.properties.function_call.type } }];
return false;
}
if (errors === _errs11) {
if (data6 && typeof data6 == "object" && !Array.isArray(data6)) {
let missing1;
if (data6.name === undefined && (missing1 = "name") || data6.arguments === undefined && (missing1 = "arguments")) {
validate83.errors = [{ instancePath: instancePath + "/function_call", schemaPath: "#/properties/function_call/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data6.name !== undefined) {
const _errs13 = errors;
if (typeof data6.name !== "string") {
validate83.errors = [{ instancePath: instancePath + "/function_call/name", schemaPath: "#/properties/function_call/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid2 = _errs13 === errors;
} else {
var valid2 = true;
}
if (valid2) {
if (data6.arguments !== undefined) {
const _errs15 = errors;
if (typeof data6.arguments !== "string") {
validate83.errors = [{ instancePath: instancePath + "/function_call/arguments", schemaPath: "#/properties/function_call/properties/arguments/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid2 = _errs15 === errors;
} else {
var valid2 = true;
}
}
}
}
}
var valid0 = _errs11 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.annotations !== undefined) {
let data9 = data.annotations;
const _errs17 = errors;
if (errors === _errs17) {
if (Array.isArray(data9)) {
var valid3 = true;
const len1 = data9.length;
for (let i1 = 0;i1 < len1; i1++) {
let data10 = data9[i1];
const _errs19 = errors;
if (!(data10 && typeof data10 == "object" && !Array.isArray(data10))) {
validate83.errors = [{ instancePath: instancePath + "/annotations/" + i1, schemaPath: "#/properties/annotations/items/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid3 = _errs19 === errors;
if (!valid3) {
break;
}
}
} else {
validate83.errors = [{ instancePath: instancePath + "/annotations", schemaPath: "#/properties/annotations/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs17 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.audio !== undefined) {
let data11 = data.audio;
const _errs21 = errors;
if (!(data11 && typeof data11 == "object" && !Array.isArray(data11)) && data11 !== null) {
validate83.errors = [{ instancePath: instancePath + "/audio", schemaPath: "#/properties/audio/type", keyword: "type", params: { type: schema100.properties.audio.type } }];
return false;
}
if (errors === _errs21) {
if (data11 && typeof data11 == "object" && !Array.isArray(data11)) {
let missing2;
if (data11.id === undefined && (missing2 = "id") || data11.data === undefined && (missing2 = "data") || data11.transcript === undefined && (missing2 = "transcript")) {
validate83.errors = [{ instancePath: instancePath + "/audio", schemaPath: "#/properties/audio/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data11.id !== undefined) {
const _errs23 = errors;
if (typeof data11.id !== "string") {
validate83.errors = [{ instancePath: instancePath + "/audio/id", schemaPath: "#/properties/audio/properties/id/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid4 = _errs23 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data11.data !== undefined) {
const _errs25 = errors;
if (typeof data11.data !== "string") {
validate83.errors = [{ instancePath: instancePath + "/audio/data", schemaPath: "#/properties/audio/properties/data/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid4 = _errs25 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data11.transcript !== undefined) {
const _errs27 = errors;
if (typeof data11.transcript !== "string") {
validate83.errors = [{ instancePath: instancePath + "/audio/transcript", schemaPath: "#/properties/audio/properties/transcript/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid4 = _errs27 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data11.expires_at !== undefined) {
let data15 = data11.expires_at;
const _errs29 = errors;
if (!(typeof data15 == "number" && (!(data15 % 1) && !isNaN(data15)) && isFinite(data15))) {
validate83.errors = [{ instancePath: instancePath + "/audio/expires_at", schemaPath: "#/properties/audio/properties/expires_at/type", keyword: "type", params: { type: "integer" } }];
return false;
}
var valid4 = _errs29 === errors;
} else {
var valid4 = true;
}
}
}
}
}
}
}
var valid0 = _errs21 === errors;
} else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
} else {
validate83.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate83.errors = vErrors;
return errors === 0;
}
validate83.evaluated = { props: { role: true, content: true, refusal: true, reasoning_content: true, tool_calls: true, function_call: true, annotations: true, audio: true }, dynamicProps: false, dynamicItems: false };
function validate82(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate82.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.index === undefined && (missing0 = "index") || data.message === undefined && (missing0 = "message") || data.finish_reason === undefined && (missing0 = "finish_reason")) {
validate82.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.index !== undefined) {
let data0 = data.index;
const _errs1 = errors;
if (!(typeof data0 == "number" && (!(data0 % 1) && !isNaN(data0)) && isFinite(data0))) {
validate82.errors = [{ instancePath: instancePath + "/index", schemaPath: "#/properties/index/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs1) {
if (typeof data0 == "number" && isFinite(data0)) {
if (data0 < 0 || isNaN(data0)) {
validate82.errors = [{ instancePath: instancePath + "/index", schemaPath: "#/properties/index/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.message !== undefined) {
const _errs3 = errors;
if (!validate83(data.message, { instancePath: instancePath + "/message", parentData: data, parentDataProperty: "message", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate83.errors : vErrors.concat(validate83.errors);
errors = vErrors.length;
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.finish_reason !== undefined) {
let data2 = data.finish_reason;
const _errs4 = errors;
if (typeof data2 !== "string") {
validate82.errors = [{ instancePath: instancePath + "/finish_reason", schemaPath: "FinishReason/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data2 === "stop" || data2 === "length" || data2 === "tool_calls" || data2 === "content_filter" || data2 === "function_call")) {
validate82.errors = [{ instancePath: instancePath + "/finish_reason", schemaPath: "FinishReason/enum", keyword: "enum", params: { allowedValues: schema96.enum } }];
return false;
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.logprobs !== undefined) {
let data3 = data.logprobs;
const _errs7 = errors;
const _errs8 = errors;
let valid2 = false;
const _errs9 = errors;
if (!validate26(data3, { instancePath: instancePath + "/logprobs", parentData: data, parentDataProperty: "logprobs", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate26.errors : vErrors.concat(validate26.errors);
errors = vErrors.length;
}
var _valid0 = _errs9 === errors;
valid2 = valid2 || _valid0;
if (_valid0) {
var props0 = {};
props0.content = true;
props0.refusal = true;
}
const _errs10 = errors;
if (data3 !== null) {
const err0 = { instancePath: instancePath + "/logprobs", schemaPath: "#/properties/logprobs/anyOf/1/type", keyword: "type", params: { type: "null" } };
if (vErrors === null) {
vErrors = [err0];
} else {
vErrors.push(err0);
}
errors++;
}
var _valid0 = _errs10 === errors;
valid2 = valid2 || _valid0;
if (!valid2) {
const err1 = { instancePath: instancePath + "/logprobs", schemaPath: "#/properties/logprobs/anyOf", keyword: "anyOf", params: {} };
if (vErrors === null) {
vErrors = [err1];
} else {
vErrors.push(err1);
}
errors++;
validate82.errors = vErrors;
return false;
} else {
errors = _errs8;
if (vErrors !== null) {
if (_errs8) {
vErrors.length = _errs8;
} else {
vErrors = null;
}
}
}
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
}
}
}
}
} else {
validate82.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate82.errors = vErrors;
return errors === 0;
}
validate82.evaluated = { props: { index: true, message: true, finish_reason: true, logprobs: true }, dynamicProps: false, dynamicItems: false };
function validate81(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate81.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.id === undefined && (missing0 = "id") || data.object === undefined && (missing0 = "object") || data.created === undefined && (missing0 = "created") || data.model === undefined && (missing0 = "model") || data.choices === undefined && (missing0 = "choices")) {
validate81.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.id !== undefined) {
const _errs1 = errors;
if (typeof data.id !== "string") {
validate81.errors = [{ instancePath: instancePath + "/id", schemaPath: "#/properties/id/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.object !== undefined) {
const _errs3 = errors;
if (data.object !== "chat.completion") {
validate81.errors = [{ instancePath: instancePath + "/object", schemaPath: "#/properties/object/const", keyword: "const", params: { allowedValue: "chat.completion" } }];
return false;
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.created !== undefined) {
let data2 = data.created;
const _errs4 = errors;
if (!(typeof data2 == "number" && (!(data2 % 1) && !isNaN(data2)) && isFinite(data2))) {
validate81.errors = [{ instancePath: instancePath + "/created", schemaPath: "#/properties/created/type", keyword: "type", params: { type: "integer" } }];
return false;
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.model !== undefined) {
const _errs6 = errors;
if (typeof data.model !== "string") {
validate81.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs6 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.choices !== undefined) {
let data4 = data.choices;
const _errs8 = errors;
if (errors === _errs8) {
if (Array.isArray(data4)) {
var valid1 = true;
const len0 = data4.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs10 = errors;
if (!validate82(data4[i0], { instancePath: instancePath + "/choices/" + i0, parentData: data4, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate82.errors : vErrors.concat(validate82.errors);
errors = vErrors.length;
}
var valid1 = _errs10 === errors;
if (!valid1) {
break;
}
}
} else {
validate81.errors = [{ instancePath: instancePath + "/choices", schemaPath: "#/properties/choices/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs8 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.usage !== undefined) {
let data6 = data.usage;
const _errs11 = errors;
const _errs12 = errors;
if (errors === _errs12) {
if (data6 && typeof data6 == "object" && !Array.isArray(data6)) {
let missing1;
if (data6.prompt_tokens === undefined && (missing1 = "prompt_tokens") || data6.completion_tokens === undefined && (missing1 = "completion_tokens") || data6.total_tokens === undefined && (missing1 = "total_tokens")) {
validate81.errors = [{ instancePath: instancePath + "/usage", schemaPath: "TokenUsageReport/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data6.prompt_tokens !== undefined) {
let data7 = data6.prompt_tokens;
const _errs14 = errors;
if (!(typeof data7 == "number" && (!(data7 % 1) && !isNaN(data7)) && isFinite(data7))) {
validate81.errors = [{ instancePath: instancePath + "/usage/prompt_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs14) {
if (typeof data7 == "number" && isFinite(data7)) {
if (data7 < 0 || isNaN(data7)) {
validate81.errors = [{ instancePath: instancePath + "/usage/prompt_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid3 = _errs14 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data6.completion_tokens !== undefined) {
let data8 = data6.completion_tokens;
const _errs16 = errors;
if (!(typeof data8 == "number" && (!(data8 % 1) && !isNaN(data8)) && isFinite(data8))) {
validate81.errors = [{ instancePath: instancePath + "/usage/completion_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs16) {
if (typeof data8 == "number" && isFinite(data8)) {
if (data8 < 0 || isNaN(data8)) {
validate81.errors = [{ instancePath: instancePath + "/usage/completion_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid3 = _errs16 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data6.total_tokens !== undefined) {
let data9 = data6.total_tokens;
const _errs18 = errors;
if (!(typeof data9 == "number" && (!(data9 % 1) && !isNaN(data9)) && isFinite(data9))) {
validate81.errors = [{ instancePath: instancePath + "/usage/total_tokens", schemaPath: "TokenUsageReport/properties/total_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs18) {
if (typeof data9 == "number" && isFinite(data9)) {
if (data9 < 0 || isNaN(data9)) {
validate81.errors = [{ instancePath: instancePath + "/usage/total_tokens", schemaPath: "TokenUsageReport/properties/total_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid3 = _errs18 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data6.prompt_tokens_details !== undefined) {
let data10 = data6.prompt_tokens_details;
const _errs20 = errors;
if (errors === _errs20) {
if (data10 && typeof data10 == "object" && !Array.isArray(data10)) {
if (data10.cached_tokens !== undefined) {
let data11 = data10.cached_tokens;
const _errs22 = errors;
if (!(typeof data11 == "number" && (!(data11 % 1) && !isNaN(data11)) && isFinite(data11))) {
validate81.errors = [{ instancePath: instancePath + "/usage/prompt_tokens_details/cached_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/cached_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs22) {
if (typeof data11 == "number" && isFinite(data11)) {
if (data11 < 0 || isNaN(data11)) {
validate81.errors = [{ instancePath: instancePath + "/usage/prompt_tokens_details/cached_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/cached_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs22 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data10.cache_write_tokens !== undefined) {
let data12 = data10.cache_write_tokens;
const _errs24 = errors;
if (!(typeof data12 == "number" && (!(data12 % 1) && !isNaN(data12)) && isFinite(data12))) {
validate81.errors = [{ instancePath: instancePath + "/usage/prompt_tokens_details/cache_write_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/cache_write_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs24) {
if (typeof data12 == "number" && isFinite(data12)) {
if (data12 < 0 || isNaN(data12)) {
validate81.errors = [{ instancePath: instancePath + "/usage/prompt_tokens_details/cache_write_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/cache_write_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs24 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data10.audio_tokens !== undefined) {
let data13 = data10.audio_tokens;
const _errs26 = errors;
if (!(typeof data13 == "number" && (!(data13 % 1) && !isNaN(data13)) && isFinite(data13))) {
validate81.errors = [{ instancePath: instancePath + "/usage/prompt_tokens_details/audio_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/audio_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs26) {
if (typeof data13 == "number" && isFinite(data13)) {
if (data13 < 0 || isNaN(data13)) {
validate81.errors = [{ instancePath: instancePath + "/usage/prompt_tokens_details/audio_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/audio_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs26 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data10.image_tokens !== undefined) {
let data14 = data10.image_tokens;
const _errs28 = errors;
if (!(typeof data14 == "number" && (!(data14 % 1) && !isNaN(data14)) && isFinite(data14))) {
validate81.errors = [{ instancePath: instancePath + "/usage/prompt_tokens_details/image_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/image_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs28) {
if (typeof data14 == "number" && isFinite(data14)) {
if (data14 < 0 || isNaN(data14)) {
validate81.errors = [{ instancePath: instancePath + "/usage/prompt_tokens_details/image_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/image_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs28 === errors;
} else {
var valid4 = true;
}
}
}
}
} else {
validate81.errors = [{ instancePath: instancePath + "/usage/prompt_tokens_details", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid3 = _errs20 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data6.completion_tokens_details !== undefined) {
let data15 = data6.completion_tokens_details;
const _errs30 = errors;
if (errors === _errs30) {
if (data15 && typeof data15 == "object" && !Array.isArray(data15)) {
if (data15.reasoning_tokens !== undefined) {
let data16 = data15.reasoning_tokens;
const _errs32 = errors;
if (!(typeof data16 == "number" && (!(data16 % 1) && !isNaN(data16)) && isFinite(data16))) {
validate81.errors = [{ instancePath: instancePath + "/usage/completion_tokens_details/reasoning_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/reasoning_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs32) {
if (typeof data16 == "number" && isFinite(data16)) {
if (data16 < 0 || isNaN(data16)) {
validate81.errors = [{ instancePath: instancePath + "/usage/completion_tokens_details/reasoning_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/reasoning_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid5 = _errs32 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data15.audio_tokens !== undefined) {
let data17 = data15.audio_tokens;
const _errs34 = errors;
if (!(typeof data17 == "number" && (!(data17 % 1) && !isNaN(data17)) && isFinite(data17))) {
validate81.errors = [{ instancePath: instancePath + "/usage/completion_tokens_details/audio_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/audio_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs34) {
if (typeof data17 == "number" && isFinite(data17)) {
if (data17 < 0 || isNaN(data17)) {
validate81.errors = [{ instancePath: instancePath + "/usage/completion_tokens_details/audio_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/audio_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid5 = _errs34 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data15.image_tokens !== undefined) {
let data18 = data15.image_tokens;
const _errs36 = errors;
if (!(typeof data18 == "number" && (!(data18 % 1) && !isNaN(data18)) && isFinite(data18))) {
validate81.errors = [{ instancePath: instancePath + "/usage/completion_tokens_details/image_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/image_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs36) {
if (typeof data18 == "number" && isFinite(data18)) {
if (data18 < 0 || isNaN(data18)) {
validate81.errors = [{ instancePath: instancePath + "/usage/completion_tokens_details/image_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/image_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid5 = _errs36 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data15.accepted_prediction_tokens !== undefined) {
let data19 = data15.accepted_prediction_tokens;
const _errs38 = errors;
if (!(typeof data19 == "number" && (!(data19 % 1) && !isNaN(data19)) && isFinite(data19))) {
validate81.errors = [{ instancePath: instancePath + "/usage/completion_tokens_details/accepted_prediction_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/accepted_prediction_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs38) {
if (typeof data19 == "number" && isFinite(data19)) {
if (data19 < 0 || isNaN(data19)) {
validate81.errors = [{ instancePath: instancePath + "/usage/completion_tokens_details/accepted_prediction_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/accepted_prediction_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid5 = _errs38 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data15.rejected_prediction_tokens !== undefined) {
let data20 = data15.rejected_prediction_tokens;
const _errs40 = errors;
if (!(typeof data20 == "number" && (!(data20 % 1) && !isNaN(data20)) && isFinite(data20))) {
validate81.errors = [{ instancePath: instancePath + "/usage/completion_tokens_details/rejected_prediction_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/rejected_prediction_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs40) {
if (typeof data20 == "number" && isFinite(data20)) {
if (data20 < 0 || isNaN(data20)) {
validate81.errors = [{ instancePath: instancePath + "/usage/completion_tokens_details/rejected_prediction_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/rejected_prediction_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid5 = _errs40 === errors;
} else {
var valid5 = true;
}
}
}
}
}
} else {
validate81.errors = [{ instancePath: instancePath + "/usage/completion_tokens_details", schemaPath: "TokenUsageReport/properties/completion_tokens_details/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid3 = _errs30 === errors;
} else {
var valid3 = true;
}
}
}
}
}
}
} else {
validate81.errors = [{ instancePath: instancePath + "/usage", schemaPath: "TokenUsageReport/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs11 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.service_tier !== undefined) {
let data21 = data.service_tier;
const _errs42 = errors;
if (typeof data21 !== "string" && data21 !== null) {
validate81.errors = [{ instancePath: instancePath + "/service_tier", schemaPath: "#/properties/service_tier/type", keyword: "type", params: { type: schema98.properties.service_tier.type } }];
return false;
}
var valid0 = _errs42 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.system_fingerprint !== undefined) {
let data22 = data.system_fingerprint;
const _errs44 = errors;
if (typeof data22 !== "string" && data22 !== null) {
validate81.errors = [{ instancePath: instancePath + "/system_fingerprint", schemaPath: "#/properties/system_fingerprint/type", keyword: "type", params: { type: schema98.properties.system_fingerprint.type } }];
return false;
}
var valid0 = _errs44 === errors;
} else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
} else {
validate81.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate81.errors = vErrors;
return errors === 0;
}
validate81.evaluated = { props: { id: true, object: true, created: true, model: true, choices: true, usage: true, service_tier: true, system_fingerprint: true }, dynamicProps: false, dynamicItems: false };
var validateHealth = validate88;
var schema103 = { type: "object", required: ["status"], properties: { status: { type: "string", enum: ["ok", "unavailable"] }, checks: { type: "object", additionalProperties: { type: "string", enum: ["ok", "failed"] } } } };
function validate88(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate88.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.status === undefined && (missing0 = "status")) {
validate88.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.status !== undefined) {
let data0 = data.status;
const _errs1 = errors;
if (typeof data0 !== "string") {
validate88.errors = [{ instancePath: instancePath + "/status", schemaPath: "#/properties/status/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "ok" || data0 === "unavailable")) {
validate88.errors = [{ instancePath: instancePath + "/status", schemaPath: "#/properties/status/enum", keyword: "enum", params: { allowedValues: schema103.properties.status.enum } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.checks !== undefined) {
let data1 = data.checks;
const _errs3 = errors;
if (errors === _errs3) {
if (data1 && typeof data1 == "object" && !Array.isArray(data1)) {
for (const key0 in data1) {
let data2 = data1[key0];
const _errs6 = errors;
if (typeof data2 !== "string") {
validate88.errors = [{ instancePath: instancePath + "/checks/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/checks/additionalProperties/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data2 === "ok" || data2 === "failed")) {
validate88.errors = [{ instancePath: instancePath + "/checks/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/checks/additionalProperties/enum", keyword: "enum", params: { allowedValues: schema103.properties.checks.additionalProperties.enum } }];
return false;
}
var valid1 = _errs6 === errors;
if (!valid1) {
break;
}
}
} else {
validate88.errors = [{ instancePath: instancePath + "/checks", schemaPath: "#/properties/checks/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
}
}
} else {
validate88.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate88.errors = vErrors;
return errors === 0;
}
validate88.evaluated = { props: { status: true, checks: true }, dynamicProps: false, dynamicItems: false };
var validateModelList = validate89;
function validate89(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate89.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.object === undefined && (missing0 = "object") || data.data === undefined && (missing0 = "data")) {
validate89.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.object !== undefined) {
const _errs1 = errors;
if (data.object !== "list") {
validate89.errors = [{ instancePath: instancePath + "/object", schemaPath: "#/properties/object/const", keyword: "const", params: { allowedValue: "list" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.data !== undefined) {
let data1 = data.data;
const _errs2 = errors;
if (errors === _errs2) {
if (Array.isArray(data1)) {
var valid1 = true;
const len0 = data1.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs4 = errors;
if (!validate60(data1[i0], { instancePath: instancePath + "/data/" + i0, parentData: data1, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate60.errors : vErrors.concat(validate60.errors);
errors = vErrors.length;
}
var valid1 = _errs4 === errors;
if (!valid1) {
break;
}
}
} else {
validate89.errors = [{ instancePath: instancePath + "/data", schemaPath: "#/properties/data/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
}
}
} else {
validate89.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate89.errors = vErrors;
return errors === 0;
}
validate89.evaluated = { props: { object: true, data: true }, dynamicProps: false, dynamicItems: false };
var validateTokenUsageReport = validate91;
function validate91(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate91.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.prompt_tokens === undefined && (missing0 = "prompt_tokens") || data.completion_tokens === undefined && (missing0 = "completion_tokens") || data.total_tokens === undefined && (missing0 = "total_tokens")) {
validate91.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.prompt_tokens !== undefined) {
let data0 = data.prompt_tokens;
const _errs1 = errors;
if (!(typeof data0 == "number" && (!(data0 % 1) && !isNaN(data0)) && isFinite(data0))) {
validate91.errors = [{ instancePath: instancePath + "/prompt_tokens", schemaPath: "#/properties/prompt_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs1) {
if (typeof data0 == "number" && isFinite(data0)) {
if (data0 < 0 || isNaN(data0)) {
validate91.errors = [{ instancePath: instancePath + "/prompt_tokens", schemaPath: "#/properties/prompt_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.completion_tokens !== undefined) {
let data1 = data.completion_tokens;
const _errs3 = errors;
if (!(typeof data1 == "number" && (!(data1 % 1) && !isNaN(data1)) && isFinite(data1))) {
validate91.errors = [{ instancePath: instancePath + "/completion_tokens", schemaPath: "#/properties/completion_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs3) {
if (typeof data1 == "number" && isFinite(data1)) {
if (data1 < 0 || isNaN(data1)) {
validate91.errors = [{ instancePath: instancePath + "/completion_tokens", schemaPath: "#/properties/completion_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.total_tokens !== undefined) {
let data2 = data.total_tokens;
const _errs5 = errors;
if (!(typeof data2 == "number" && (!(data2 % 1) && !isNaN(data2)) && isFinite(data2))) {
validate91.errors = [{ instancePath: instancePath + "/total_tokens", schemaPath: "#/properties/total_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs5) {
if (typeof data2 == "number" && isFinite(data2)) {
if (data2 < 0 || isNaN(data2)) {
validate91.errors = [{ instancePath: instancePath + "/total_tokens", schemaPath: "#/properties/total_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.prompt_tokens_details !== undefined) {
let data3 = data.prompt_tokens_details;
const _errs7 = errors;
if (errors === _errs7) {
if (data3 && typeof data3 == "object" && !Array.isArray(data3)) {
if (data3.cached_tokens !== undefined) {
let data4 = data3.cached_tokens;
const _errs9 = errors;
if (!(typeof data4 == "number" && (!(data4 % 1) && !isNaN(data4)) && isFinite(data4))) {
validate91.errors = [{ instancePath: instancePath + "/prompt_tokens_details/cached_tokens", schemaPath: "#/properties/prompt_tokens_details/properties/cached_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs9) {
if (typeof data4 == "number" && isFinite(data4)) {
if (data4 < 0 || isNaN(data4)) {
validate91.errors = [{ instancePath: instancePath + "/prompt_tokens_details/cached_tokens", schemaPath: "#/properties/prompt_tokens_details/properties/cached_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid1 = _errs9 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data3.cache_write_tokens !== undefined) {
let data5 = data3.cache_write_tokens;
const _errs11 = errors;
if (!(typeof data5 == "number" && (!(data5 % 1) && !isNaN(data5)) && isFinite(data5))) {
validate91.errors = [{ instancePath: instancePath + "/prompt_tokens_details/cache_write_tokens", schemaPath: "#/properties/prompt_tokens_details/properties/cache_write_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs11) {
if (typeof data5 == "number" && isFinite(data5)) {
if (data5 < 0 || isNaN(data5)) {
validate91.errors = [{ instancePath: instancePath + "/prompt_tokens_details/cache_write_tokens", schemaPath: "#/properties/prompt_tokens_details/properties/cache_write_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid1 = _errs11 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data3.audio_tokens !== undefined) {
let data6 = data3.audio_tokens;
const _errs13 = errors;
if (!(typeof data6 == "number" && (!(data6 % 1) && !isNaN(data6)) && isFinite(data6))) {
validate91.errors = [{ instancePath: instancePath + "/prompt_tokens_details/audio_tokens", schemaPath: "#/properties/prompt_tokens_details/properties/audio_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs13) {
if (typeof data6 == "number" && isFinite(data6)) {
if (data6 < 0 || isNaN(data6)) {
validate91.errors = [{ instancePath: instancePath + "/prompt_tokens_details/audio_tokens", schemaPath: "#/properties/prompt_tokens_details/properties/audio_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid1 = _errs13 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data3.image_tokens !== undefined) {
let data7 = data3.image_tokens;
const _errs15 = errors;
if (!(typeof data7 == "number" && (!(data7 % 1) && !isNaN(data7)) && isFinite(data7))) {
validate91.errors = [{ instancePath: instancePath + "/prompt_tokens_details/image_tokens", schemaPath: "#/properties/prompt_tokens_details/properties/image_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs15) {
if (typeof data7 == "number" && isFinite(data7)) {
if (data7 < 0 || isNaN(data7)) {
validate91.errors = [{ instancePath: instancePath + "/prompt_tokens_details/image_tokens", schemaPath: "#/properties/prompt_tokens_details/properties/image_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid1 = _errs15 === errors;
} else {
var valid1 = true;
}
}
}
}
} else {
validate91.errors = [{ instancePath: instancePath + "/prompt_tokens_details", schemaPath: "#/properties/prompt_tokens_details/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.completion_tokens_details !== undefined) {
let data8 = data.completion_tokens_details;
const _errs17 = errors;
if (errors === _errs17) {
if (data8 && typeof data8 == "object" && !Array.isArray(data8)) {
if (data8.reasoning_tokens !== undefined) {
let data9 = data8.reasoning_tokens;
const _errs19 = errors;
if (!(typeof data9 == "number" && (!(data9 % 1) && !isNaN(data9)) && isFinite(data9))) {
validate91.errors = [{ instancePath: instancePath + "/completion_tokens_details/reasoning_tokens", schemaPath: "#/properties/completion_tokens_details/properties/reasoning_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs19) {
if (typeof data9 == "number" && isFinite(data9)) {
if (data9 < 0 || isNaN(data9)) {
validate91.errors = [{ instancePath: instancePath + "/completion_tokens_details/reasoning_tokens", schemaPath: "#/properties/completion_tokens_details/properties/reasoning_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid2 = _errs19 === errors;
} else {
var valid2 = true;
}
if (valid2) {
if (data8.audio_tokens !== undefined) {
let data10 = data8.audio_tokens;
const _errs21 = errors;
if (!(typeof data10 == "number" && (!(data10 % 1) && !isNaN(data10)) && isFinite(data10))) {
validate91.errors = [{ instancePath: instancePath + "/completion_tokens_details/audio_tokens", schemaPath: "#/properties/completion_tokens_details/properties/audio_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs21) {
if (typeof data10 == "number" && isFinite(data10)) {
if (data10 < 0 || isNaN(data10)) {
validate91.errors = [{ instancePath: instancePath + "/completion_tokens_details/audio_tokens", schemaPath: "#/properties/completion_tokens_details/properties/audio_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid2 = _errs21 === errors;
} else {
var valid2 = true;
}
if (valid2) {
if (data8.image_tokens !== undefined) {
let data11 = data8.image_tokens;
const _errs23 = errors;
if (!(typeof data11 == "number" && (!(data11 % 1) && !isNaN(data11)) && isFinite(data11))) {
validate91.errors = [{ instancePath: instancePath + "/completion_tokens_details/image_tokens", schemaPath: "#/properties/completion_tokens_details/properties/image_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs23) {
if (typeof data11 == "number" && isFinite(data11)) {
if (data11 < 0 || isNaN(data11)) {
validate91.errors = [{ instancePath: instancePath + "/completion_tokens_details/image_tokens", schemaPath: "#/properties/completion_tokens_details/properties/image_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid2 = _errs23 === errors;
} else {
var valid2 = true;
}
if (valid2) {
if (data8.accepted_prediction_tokens !== undefined) {
let data12 = data8.accepted_prediction_tokens;
const _errs25 = errors;
if (!(typeof data12 == "number" && (!(data12 % 1) && !isNaN(data12)) && isFinite(data12))) {
validate91.errors = [{ instancePath: instancePath + "/completion_tokens_details/accepted_prediction_tokens", schemaPath: "#/properties/completion_tokens_details/properties/accepted_prediction_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs25) {
if (typeof data12 == "number" && isFinite(data12)) {
if (data12 < 0 || isNaN(data12)) {
validate91.errors = [{ instancePath: instancePath + "/completion_tokens_details/accepted_prediction_tokens", schemaPath: "#/properties/completion_tokens_details/properties/accepted_prediction_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid2 = _errs25 === errors;
} else {
var valid2 = true;
}
if (valid2) {
if (data8.rejected_prediction_tokens !== undefined) {
let data13 = data8.rejected_prediction_tokens;
const _errs27 = errors;
if (!(typeof data13 == "number" && (!(data13 % 1) && !isNaN(data13)) && isFinite(data13))) {
validate91.errors = [{ instancePath: instancePath + "/completion_tokens_details/rejected_prediction_tokens", schemaPath: "#/properties/completion_tokens_details/properties/rejected_prediction_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs27) {
if (typeof data13 == "number" && isFinite(data13)) {
if (data13 < 0 || isNaN(data13)) {
validate91.errors = [{ instancePath: instancePath + "/completion_tokens_details/rejected_prediction_tokens", schemaPath: "#/properties/completion_tokens_details/properties/rejected_prediction_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid2 = _errs27 === errors;
} else {
var valid2 = true;
}
}
}
}
}
} else {
validate91.errors = [{ instancePath: instancePath + "/completion_tokens_details", schemaPath: "#/properties/completion_tokens_details/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs17 === errors;
} else {
var valid0 = true;
}
}
}
}
}
}
} else {
validate91.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate91.errors = vErrors;
return errors === 0;
}
validate91.evaluated = { props: { prompt_tokens: true, completion_tokens: true, total_tokens: true, prompt_tokens_details: true, completion_tokens_details: true }, dynamicProps: false, dynamicItems: false };
var validateUsageRecord = validate92;
var schema106 = { type: "object", required: ["request_id", "job_id", "kind", "model", "status", "units", "credits", "estimated", "created"], properties: { request_id: { type: "string" }, job_id: { type: "string", format: "uuid" }, kind: { type: "string", enum: ["chat"] }, model: { type: "string" }, requested_model: { type: "string" }, status: { type: "string", enum: ["succeeded", "failed", "cancelled", "lost"] }, units: { type: "object", additionalProperties: { type: "number", minimum: 0 } }, credits: { type: "number", minimum: 0 }, uncollected_credits: { type: "number", minimum: 0 }, estimated: { type: "boolean" }, created: { type: "integer" } } };
function validate92(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate92.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.request_id === undefined && (missing0 = "request_id") || data.job_id === undefined && (missing0 = "job_id") || data.kind === undefined && (missing0 = "kind") || data.model === undefined && (missing0 = "model") || data.status === undefined && (missing0 = "status") || data.units === undefined && (missing0 = "units") || data.credits === undefined && (missing0 = "credits") || data.estimated === undefined && (missing0 = "estimated") || data.created === undefined && (missing0 = "created")) {
validate92.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.request_id !== undefined) {
const _errs1 = errors;
if (typeof data.request_id !== "string") {
validate92.errors = [{ instancePath: instancePath + "/request_id", schemaPath: "#/properties/request_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.job_id !== undefined) {
let data1 = data.job_id;
const _errs3 = errors;
if (errors === _errs3) {
if (errors === _errs3) {
if (typeof data1 === "string") {
if (!formats2.test(data1)) {
validate92.errors = [{ instancePath: instancePath + "/job_id", schemaPath: "#/properties/job_id/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate92.errors = [{ instancePath: instancePath + "/job_id", schemaPath: "#/properties/job_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.kind !== undefined) {
let data2 = data.kind;
const _errs5 = errors;
if (typeof data2 !== "string") {
validate92.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data2 === "chat")) {
validate92.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/enum", keyword: "enum", params: { allowedValues: schema106.properties.kind.enum } }];
return false;
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.model !== undefined) {
const _errs7 = errors;
if (typeof data.model !== "string") {
validate92.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.requested_model !== undefined) {
const _errs9 = errors;
if (typeof data.requested_model !== "string") {
validate92.errors = [{ instancePath: instancePath + "/requested_model", schemaPath: "#/properties/requested_model/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs9 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.status !== undefined) {
let data5 = data.status;
const _errs11 = errors;
if (typeof data5 !== "string") {
validate92.errors = [{ instancePath: instancePath + "/status", schemaPath: "#/properties/status/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data5 === "succeeded" || data5 === "failed" || data5 === "cancelled" || data5 === "lost")) {
validate92.errors = [{ instancePath: instancePath + "/status", schemaPath: "#/properties/status/enum", keyword: "enum", params: { allowedValues: schema106.properties.status.enum } }];
return false;
}
var valid0 = _errs11 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.units !== undefined) {
let data6 = data.units;
const _errs13 = errors;
if (errors === _errs13) {
if (data6 && typeof data6 == "object" && !Array.isArray(data6)) {
for (const key0 in data6) {
let data7 = data6[key0];
const _errs16 = errors;
if (errors === _errs16) {
if (typeof data7 == "number" && isFinite(data7)) {
if (data7 < 0 || isNaN(data7)) {
validate92.errors = [{ instancePath: instancePath + "/units/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/units/additionalProperties/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate92.errors = [{ instancePath: instancePath + "/units/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/units/additionalProperties/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid1 = _errs16 === errors;
if (!valid1) {
break;
}
}
} else {
validate92.errors = [{ instancePath: instancePath + "/units", schemaPath: "#/properties/units/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs13 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.credits !== undefined) {
let data8 = data.credits;
const _errs18 = errors;
if (errors === _errs18) {
if (typeof data8 == "number" && isFinite(data8)) {
if (data8 < 0 || isNaN(data8)) {
validate92.errors = [{ instancePath: instancePath + "/credits", schemaPath: "#/properties/credits/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate92.errors = [{ instancePath: instancePath + "/credits", schemaPath: "#/properties/credits/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid0 = _errs18 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.uncollected_credits !== undefined) {
let data9 = data.uncollected_credits;
const _errs20 = errors;
if (errors === _errs20) {
if (typeof data9 == "number" && isFinite(data9)) {
if (data9 < 0 || isNaN(data9)) {
validate92.errors = [{ instancePath: instancePath + "/uncollected_credits", schemaPath: "#/properties/uncollected_credits/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate92.errors = [{ instancePath: instancePath + "/uncollected_credits", schemaPath: "#/properties/uncollected_credits/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid0 = _errs20 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.estimated !== undefined) {
const _errs22 = errors;
if (typeof data.estimated !== "boolean") {
validate92.errors = [{ instancePath: instancePath + "/estimated", schemaPath: "#/properties/estimated/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs22 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.created !== undefined) {
let data11 = data.created;
const _errs24 = errors;
if (!(typeof data11 == "number" && (!(data11 % 1) && !isNaN(data11)) && isFinite(data11))) {
validate92.errors = [{ instancePath: instancePath + "/created", schemaPath: "#/properties/created/type", keyword: "type", params: { type: "integer" } }];
return false;
}
var valid0 = _errs24 === errors;
} else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
} else {
validate92.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate92.errors = vErrors;
return errors === 0;
}
validate92.evaluated = { props: { request_id: true, job_id: true, kind: true, model: true, requested_model: true, status: true, units: true, credits: true, uncollected_credits: true, estimated: true, created: true }, dynamicProps: false, dynamicItems: false };
var validators = {
AllowedParams: validateAllowedParams,
CatalogueFile: validateCatalogueFile,
ChatLogprobs: validateChatLogprobs,
ChatMessage: validateChatMessage,
ChatTool: validateChatTool,
ErrorEnvelope: validateErrorEnvelope,
JobMessage: validateJobMessage,
ModelEntry: validateModelEntry,
PresetEntry: validatePresetEntry,
Pricing: validatePricing,
ProviderEntry: validateProviderEntry,
ChatCompletionRequest: validateChatCompletionRequest,
ChatCompletionChunk: validateChatCompletionChunk,
ChatCompletion: validateChatCompletion,
Health: validateHealth,
ModelList: validateModelList,
TokenUsageReport: validateTokenUsageReport,
UsageRecord: validateUsageRecord
};
function isObject(value) {
return typeof value === "object" && value !== null && !Array.isArray(value);
}
var pattern0 = new RegExp("^([Hh][Tt][Tt][Pp][Ss]?://|[Dd][Aa][Tt][Aa]:)", "u");
var pattern1 = new RegExp("^[a-zA-Z0-9_-]{1,64}$", "u");
var pattern2 = new RegExp("^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$", "u");
var pattern3 = new RegExp("^[0-9]{1,19}$", "u");
function isChatCompletionRequest(value) {
if (!isObject(value))
return false;
if (!(value["model"] !== undefined))
return false;
if (!(value["messages"] !== undefined))
return false;
const v1 = value["model"];
if (v1 !== undefined) {
if (!(typeof v1 === "string"))
return false;
if (!(v1.length >= 1))
return false;
if (!(v1.length <= 200))
return false;
}
const v2 = value["messages"];
if (v2 !== undefined) {
if (!Array.isArray(v2))
return false;
if (!(v2.length >= 1))
return false;
for (const v3 of v2) {
if (!isChatMessage(v3))
return false;
}
}
const v70 = value["stream"];
if (v70 !== undefined) {
if (!(typeof v70 === "boolean" || v70 === null))
return false;
}
const v71 = value["stream_options"];
if (v71 !== undefined) {
if (!(isObject(v71) || v71 === null))
return false;
if (isObject(v71)) {
const v72 = v71["include_usage"];
if (v72 !== undefined) {
if (!(typeof v72 === "boolean"))
return false;
}
const v73 = v71["include_obfuscation"];
if (v73 !== undefined) {
if (!(typeof v73 === "boolean"))
return false;
}
}
}
const v74 = value["max_completion_tokens"];
if (v74 !== undefined) {
if (!(Number.isInteger(v74) || v74 === null))
return false;
if (Number.isFinite(v74)) {
if (!(v74 >= 1))
return false;
if (!(v74 <= 2147483647))
return false;
}
}
const v75 = value["max_tokens"];
if (v75 !== undefined) {
if (!(Number.isInteger(v75) || v75 === null))
return false;
if (Number.isFinite(v75)) {
if (!(v75 >= 1))
return false;
if (!(v75 <= 2147483647))
return false;
}
}
const v76 = value["temperature"];
if (v76 !== undefined) {
if (!(Number.isFinite(v76) || v76 === null))
return false;
if (Number.isFinite(v76)) {
if (!(v76 >= 0))
return false;
if (!(v76 <= 2))
return false;
}
}
const v77 = value["top_p"];
if (v77 !== undefined) {
if (!(Number.isFinite(v77) || v77 === null))
return false;
if (Number.isFinite(v77)) {
if (!(v77 >= 0))
return false;
if (!(v77 <= 1))
return false;
}
}
const v78 = value["n"];
if (v78 !== undefined) {
if (!(Number.isInteger(v78) || v78 === null))
return false;
if (Number.isFinite(v78)) {
if (!(v78 >= 1))
return false;
if (!(v78 <= 128))
return false;
}
}
const v79 = value["stop"];
if (v79 !== undefined) {
if (!(typeof v79 === "string" || Array.isArray(v79) || v79 === null))
return false;
if (Array.isArray(v79)) {
if (!(v79.length <= 16))
return false;
for (const v80 of v79) {
if (!(typeof v80 === "string"))
return false;
}
}
}
const v81 = value["frequency_penalty"];
if (v81 !== undefined) {
if (!(Number.isFinite(v81) || v81 === null))
return false;
if (Number.isFinite(v81)) {
if (!(v81 >= -2))
return false;
if (!(v81 <= 2))
return false;
}
}
const v82 = value["presence_penalty"];
if (v82 !== undefined) {
if (!(Number.isFinite(v82) || v82 === null))
return false;
if (Number.isFinite(v82)) {
if (!(v82 >= -2))
return false;
if (!(v82 <= 2))
return false;
}
}
const v83 = value["logit_bias"];
if (v83 !== undefined) {
if (!(isObject(v83) || v83 === null))
return false;
if (isObject(v83)) {
for (const v84 in v83) {
const v85 = v83[v84];
if (!Number.isFinite(v85))
return false;
if (!(v85 >= -100))
return false;
if (!(v85 <= 100))
return false;
}
}
}
const v86 = value["logprobs"];
if (v86 !== undefined) {
if (!(typeof v86 === "boolean" || v86 === null))
return false;
}
const v87 = value["top_logprobs"];
if (v87 !== undefined) {
if (!(Number.isInteger(v87) || v87 === null))
return false;
if (Number.isFinite(v87)) {
if (!(v87 >= 0))
return false;
if (!(v87 <= 20))
return false;
}
}
const v88 = value["seed"];
if (v88 !== undefined) {
if (!(Number.isInteger(v88) || v88 === null))
return false;
if (Number.isFinite(v88)) {
if (!(v88 >= -9223372036854776000))
return false;
if (!(v88 <= 9223372036854776000))
return false;
}
}
const v89 = value["tools"];
if (v89 !== undefined) {
if (!Array.isArray(v89))
return false;
for (const v90 of v89) {
if (!isChatTool(v90))
return false;
}
}
const v107 = value["tool_choice"];
if (v107 !== undefined) {
if (!isToolChoice(v107))
return false;
}
const v119 = value["parallel_tool_calls"];
if (v119 !== undefined) {
if (!(typeof v119 === "boolean"))
return false;
}
const v120 = value["response_format"];
if (v120 !== undefined) {
if (!isResponseFormat(v120))
return false;
}
const v129 = value["reasoning_effort"];
if (v129 !== undefined) {
if (!(typeof v129 === "string" || v129 === null))
return false;
if (typeof v129 === "string") {
if (!(v129.length <= 40))
return false;
}
}
const v130 = value["verbosity"];
if (v130 !== undefined) {
if (!(v130 === "low" || v130 === "medium" || v130 === "high" || v130 === null))
return false;
}
const v131 = value["modalities"];
if (v131 !== undefined) {
if (!(Array.isArray(v131) || v131 === null))
return false;
if (Array.isArray(v131)) {
for (const v132 of v131) {
if (!(v132 === "text" || v132 === "audio"))
return false;
}
}
}
const v133 = value["audio"];
if (v133 !== undefined) {
if (!(isObject(v133) || v133 === null))
return false;
if (isObject(v133)) {
if (!(v133["voice"] !== undefined))
return false;
if (!(v133["format"] !== undefined))
return false;
const v134 = v133["voice"];
if (v134 !== undefined) {
if (!(typeof v134 === "string" || isObject(v134)))
return false;
if (isObject(v134)) {
if (!(v134["id"] !== undefined))
return false;
const v135 = v134["id"];
if (v135 !== undefined) {
if (!(typeof v135 === "string"))
return false;
}
}
}
const v136 = v133["format"];
if (v136 !== undefined) {
if (!(v136 === "wav" || v136 === "aac" || v136 === "mp3" || v136 === "flac" || v136 === "opus" || v136 === "pcm16"))
return false;
}
}
}
const v137 = value["prediction"];
if (v137 !== undefined) {
if (!(isObject(v137) || v137 === null))
return false;
if (isObject(v137)) {
if (!(v137["type"] !== undefined))
return false;
if (!(v137["content"] !== undefined))
return false;
const v138 = v137["type"];
if (v138 !== undefined) {
if (!(v138 === "content"))
return false;
}
const v139 = v137["content"];
if (v139 !== undefined) {
if (!(typeof v139 === "string" || Array.isArray(v139)))
return false;
if (Array.isArray(v139)) {
if (!(v139.length >= 1))
return false;
for (const v140 of v139) {
if (!isTextOnlyBlock(v140))
return false;
}
}
}
}
}
const v141 = value["web_search_options"];
if (v141 !== undefined) {
if (!isObject(v141))
return false;
const v142 = v141["search_context_size"];
if (v142 !== undefined) {
if (!(v142 === "low" || v142 === "medium" || v142 === "high"))
return false;
}
const v143 = v141["user_location"];
if (v143 !== undefined) {
if (!(isObject(v143) || v143 === null))
return false;
if (isObject(v143)) {
if (!(v143["type"] !== undefined))
return false;
if (!(v143["approximate"] !== undefined))
return false;
const v144 = v143["type"];
if (v144 !== undefined) {
if (!(v144 === "approximate"))
return false;
}
const v145 = v143["approximate"];
if (v145 !== undefined) {
if (!isObject(v145))
return false;
const v146 = v145["country"];
if (v146 !== undefined) {
if (!(typeof v146 === "string"))
return false;
}
const v147 = v145["region"];
if (v147 !== undefined) {
if (!(typeof v147 === "string"))
return false;
}
const v148 = v145["city"];
if (v148 !== undefined) {
if (!(typeof v148 === "string"))
return false;
}
const v149 = v145["timezone"];
if (v149 !== undefined) {
if (!(typeof v149 === "string"))
return false;
}
}
}
}
}
const v150 = value["service_tier"];
if (v150 !== undefined) {
if (!(typeof v150 === "string" || v150 === null))
return false;
}
const v151 = value["store"];
if (v151 !== undefined) {
if (!(typeof v151 === "boolean" || v151 === null))
return false;
}
const v152 = value["metadata"];
if (v152 !== undefined) {
if (!(isObject(v152) || v152 === null))
return false;
if (isObject(v152)) {
for (const v153 in v152) {
const v154 = v152[v153];
if (!(typeof v154 === "string"))
return false;
}
}
}
const v155 = value["user"];
if (v155 !== undefined) {
if (!(typeof v155 === "string"))
return false;
}
const v156 = value["safety_identifier"];
if (v156 !== undefined) {
if (!(typeof v156 === "string" || v156 === null))
return false;
}
const v157 = value["prompt_cache_key"];
if (v157 !== undefined) {
if (!(typeof v157 === "string" || v157 === null))
return false;
}
const v158 = value["functions"];
if (v158 !== undefined) {
if (!Array.isArray(v158))
return false;
for (const v159 of v158) {
if (!isObject(v159))
return false;
if (!(v159["name"] !== undefined))
return false;
const v160 = v159["name"];
if (v160 !== undefined) {
if (!(typeof v160 === "string"))
return false;
}
}
}
const v161 = value["function_call"];
if (v161 !== undefined) {
if (!(typeof v161 === "string" || isObject(v161)))
return false;
if (isObject(v161)) {
if (!(v161["name"] !== undefined))
return false;
const v162 = v161["name"];
if (v162 !== undefined) {
if (!(typeof v162 === "string"))
return false;
}
}
}
return true;
}
function isChatMessage(value) {
if (!isObject(value))
return false;
switch (value["role"]) {
case "developer":
if (!isDeveloperMessage(value))
return false;
break;
case "system":
if (!isSystemMessage(value))
return false;
break;
case "user":
if (!isUserMessage(value))
return false;
break;
case "assistant":
if (!isAssistantMessage(value))
return false;
break;
case "tool":
if (!isToolMessage(value))
return false;
break;
case "function":
if (!isFunctionMessage(value))
return false;
break;
default:
return false;
}
return true;
}
function isDeveloperMessage(value) {
if (!isObject(value))
return false;
if (!(value["role"] !== undefined))
return false;
if (!(value["content"] !== undefined))
return false;
const v4 = value["role"];
if (v4 !== undefined) {
if (!(v4 === "developer"))
return false;
}
const v5 = value["content"];
if (v5 !== undefined) {
if (!(typeof v5 === "string" || Array.isArray(v5)))
return false;
if (Array.isArray(v5)) {
if (!(v5.length >= 1))
return false;
for (const v6 of v5) {
if (!isTextOnlyBlock(v6))
return false;
}
}
}
const v9 = value["name"];
if (v9 !== undefined) {
if (!(typeof v9 === "string"))
return false;
}
return true;
}
function isTextOnlyBlock(value) {
if (!isObject(value))
return false;
switch (value["type"]) {
case "text":
if (!isTextBlock(value))
return false;
break;
default:
return false;
}
return true;
}
function isTextBlock(value) {
if (!isObject(value))
return false;
if (!(value["type"] !== undefined))
return false;
if (!(value["text"] !== undefined))
return false;
const v7 = value["type"];
if (v7 !== undefined) {
if (!(v7 === "text"))
return false;
}
const v8 = value["text"];
if (v8 !== undefined) {
if (!(typeof v8 === "string"))
return false;
}
return true;
}
function isSystemMessage(value) {
if (!isObject(value))
return false;
if (!(value["role"] !== undefined))
return false;
if (!(value["content"] !== undefined))
return false;
const v10 = value["role"];
if (v10 !== undefined) {
if (!(v10 === "system"))
return false;
}
const v11 = value["content"];
if (v11 !== undefined) {
if (!(typeof v11 === "string" || Array.isArray(v11)))
return false;
if (Array.isArray(v11)) {
if (!(v11.length >= 1))
return false;
for (const v12 of v11) {
if (!isTextOnlyBlock(v12))
return false;
}
}
}
const v13 = value["name"];
if (v13 !== undefined) {
if (!(typeof v13 === "string"))
return false;
}
return true;
}
function isUserMessage(value) {
if (!isObject(value))
return false;
if (!(value["role"] !== undefined))
return false;
if (!(value["content"] !== undefined))
return false;
const v14 = value["role"];
if (v14 !== undefined) {
if (!(v14 === "user"))
return false;
}
const v15 = value["content"];
if (v15 !== undefined) {
if (!(typeof v15 === "string" || Array.isArray(v15)))
return false;
if (Array.isArray(v15)) {
if (!(v15.length >= 1))
return false;
for (const v16 of v15) {
if (!isUserContentBlock(v16))
return false;
}
}
}
const v31 = value["name"];
if (v31 !== undefined) {
if (!(typeof v31 === "string"))
return false;
}
return true;
}
function isUserContentBlock(value) {
if (!isObject(value))
return false;
switch (value["type"]) {
case "text":
if (!isTextBlock(value))
return false;
break;
case "image_url":
if (!isImageBlock(value))
return false;
break;
case "input_audio":
if (!isAudioBlock(value))
return false;
break;
case "file":
if (!isFileBlock(value))
return false;
break;
default:
return false;
}
return true;
}
function isImageBlock(value) {
if (!isObject(value))
return false;
if (!(value["type"] !== undefined))
return false;
if (!(value["image_url"] !== undefined))
return false;
const v17 = value["type"];
if (v17 !== undefined) {
if (!(v17 === "image_url"))
return false;
}
const v18 = value["image_url"];
if (v18 !== undefined) {
if (!isObject(v18))
return false;
if (!(v18["url"] !== undefined))
return false;
const v19 = v18["url"];
if (v19 !== undefined) {
if (!(typeof v19 === "string"))
return false;
if (!pattern0.test(v19))
return false;
}
const v20 = v18["detail"];
if (v20 !== undefined) {
if (!(v20 === "auto" || v20 === "low" || v20 === "high"))
return false;
}
}
return true;
}
function isAudioBlock(value) {
if (!isObject(value))
return false;
if (!(value["type"] !== undefined))
return false;
if (!(value["input_audio"] !== undefined))
return false;
const v21 = value["type"];
if (v21 !== undefined) {
if (!(v21 === "input_audio"))
return false;
}
const v22 = value["input_audio"];
if (v22 !== undefined) {
if (!isObject(v22))
return false;
if (!(v22["data"] !== undefined))
return false;
if (!(v22["format"] !== undefined))
return false;
const v23 = v22["data"];
if (v23 !== undefined) {
if (!(typeof v23 === "string"))
return false;
if (!(v23.length >= 1))
return false;
}
const v24 = v22["format"];
if (v24 !== undefined) {
if (!(v24 === "wav" || v24 === "mp3"))
return false;
}
}
return true;
}
function isFileBlock(value) {
if (!isObject(value))
return false;
if (!(value["type"] !== undefined))
return false;
if (!(value["file"] !== undefined))
return false;
const v25 = value["type"];
if (v25 !== undefined) {
if (!(v25 === "file"))
return false;
}
const v26 = value["file"];
if (v26 !== undefined) {
if (!isObject(v26))
return false;
if (!(is11(v26) || is12(v26) || is13(v26)))
return false;
const v27 = v26["file_id"];
if (v27 !== undefined) {
if (!(typeof v27 === "string"))
return false;
if (!(v27.length >= 1))
return false;
}
const v28 = v26["file_data"];
if (v28 !== undefined) {
if (!(typeof v28 === "string"))
return false;
if (!(v28.length >= 1))
return false;
}
const v29 = v26["file_url"];
if (v29 !== undefined) {
if (!(typeof v29 === "string"))
return false;
if (!(v29.length >= 1))
return false;
}
const v30 = v26["filename"];
if (v30 !== undefined) {
if (!(typeof v30 === "string"))
return false;
}
}
return true;
}
function is11(value) {
if (isObject(value)) {
if (!(value["file_id"] !== undefined))
return false;
}
return true;
}
function is12(value) {
if (isObject(value)) {
if (!(value["file_data"] !== undefined))
return false;
}
return true;
}
function is13(value) {
if (isObject(value)) {
if (!(value["file_url"] !== undefined))
return false;
}
return true;
}
function isAssistantMessage(value) {
if (!isObject(value))
return false;
if (is20(value)) {} else {
if (isObject(value)) {
if (!(value["content"] !== undefined))
return false;
const v62 = value["content"];
if (v62 !== undefined) {
if (!(typeof v62 === "string" || Array.isArray(v62)))
return false;
}
}
}
if (!(value["role"] !== undefined))
return false;
const v32 = value["role"];
if (v32 !== undefined) {
if (!(v32 === "assistant"))
return false;
}
const v33 = value["content"];
if (v33 !== undefined) {
if (!(typeof v33 === "string" || Array.isArray(v33) || v33 === null))
return false;
if (Array.isArray(v33)) {
if (!(v33.length >= 1))
return false;
for (const v34 of v33) {
if (!isAssistantContentBlock(v34))
return false;
}
}
}
const v37 = value["refusal"];
if (v37 !== undefined) {
if (!(typeof v37 === "string" || v37 === null))
return false;
}
const v38 = value["name"];
if (v38 !== undefined) {
if (!(typeof v38 === "string"))
return false;
}
const v39 = value["audio"];
if (v39 !== undefined) {
if (!(isObject(v39) || v39 === null))
return false;
if (isObject(v39)) {
if (!(v39["id"] !== undefined))
return false;
const v40 = v39["id"];
if (v40 !== undefined) {
if (!(typeof v40 === "string"))
return false;
}
}
}
const v41 = value["reasoning_content"];
if (v41 !== undefined) {
if (!(typeof v41 === "string" || v41 === null))
return false;
}
const v42 = value["tool_calls"];
if (v42 !== undefined) {
if (!Array.isArray(v42))
return false;
for (const v43 of v42) {
if (!isToolCall(v43))
return false;
}
}
const v54 = value["function_call"];
if (v54 !== undefined) {
if (!(isObject(v54) || v54 === null))
return false;
if (isObject(v54)) {
if (!(v54["name"] !== undefined))
return false;
if (!(v54["arguments"] !== undefined))
return false;
const v55 = v54["name"];
if (v55 !== undefined) {
if (!(typeof v55 === "string"))
return false;
}
const v56 = v54["arguments"];
if (v56 !== undefined) {
if (!(typeof v56 === "string"))
return false;
}
}
}
return true;
}
function isAssistantContentBlock(value) {
if (!isObject(value))
return false;
switch (value["type"]) {
case "text":
if (!isTextBlock(value))
return false;
break;
case "refusal":
if (!isRefusalBlock(value))
return false;
break;
default:
return false;
}
return true;
}
function isRefusalBlock(value) {
if (!isObject(value))
return false;
if (!(value["type"] !== undefined))
return false;
if (!(value["refusal"] !== undefined))
return false;
const v35 = value["type"];
if (v35 !== undefined) {
if (!(v35 === "refusal"))
return false;
}
const v36 = value["refusal"];
if (v36 !== undefined) {
if (!(typeof v36 === "string"))
return false;
}
return true;
}
function isToolCall(value) {
if (!isObject(value))
return false;
switch (value["type"]) {
case "function":
if (!isFunctionToolCall(value))
return false;
break;
case "custom":
if (!isCustomToolCall(value))
return false;
break;
default:
return false;
}
return true;
}
function isFunctionToolCall(value) {
if (!isObject(value))
return false;
if (!(value["id"] !== undefined))
return false;
if (!(value["type"] !== undefined))
return false;
if (!(value["function"] !== undefined))
return false;
const v44 = value["id"];
if (v44 !== undefined) {
if (!(typeof v44 === "string"))
return false;
}
const v45 = value["type"];
if (v45 !== undefined) {
if (!(v45 === "function"))
return false;
}
const v46 = value["function"];
if (v46 !== undefined) {
if (!isObject(v46))
return false;
if (!(v46["name"] !== undefined))
return false;
if (!(v46["arguments"] !== undefined))
return false;
const v47 = v46["name"];
if (v47 !== undefined) {
if (!(typeof v47 === "string"))
return false;
}
const v48 = v46["arguments"];
if (v48 !== undefined) {
if (!(typeof v48 === "string"))
return false;
}
}
return true;
}
function isCustomToolCall(value) {
if (!isObject(value))
return false;
if (!(value["id"] !== undefined))
return false;
if (!(value["type"] !== undefined))
return false;
if (!(value["custom"] !== undefined))
return false;
const v49 = value["id"];
if (v49 !== undefined) {
if (!(typeof v49 === "string"))
return false;
}
const v50 = value["type"];
if (v50 !== undefined) {
if (!(v50 === "custom"))
return false;
}
const v51 = value["custom"];
if (v51 !== undefined) {
if (!isObject(v51))
return false;
if (!(v51["name"] !== undefined))
return false;
if (!(v51["input"] !== undefined))
return false;
const v52 = v51["name"];
if (v52 !== undefined) {
if (!(typeof v52 === "string"))
return false;
}
const v53 = v51["input"];
if (v53 !== undefined) {
if (!(typeof v53 === "string"))
return false;
}
}
return true;
}
function is20(value) {
if (!(is21(value) || is22(value) || is23(value) || is24(value) || is25(value)))
return false;
return true;
}
function is21(value) {
if (isObject(value)) {
if (!(value["content"] !== undefined))
return false;
const v57 = value["content"];
if (v57 !== undefined) {
if (!(typeof v57 === "string" || Array.isArray(v57)))
return false;
}
}
return true;
}
function is22(value) {
if (isObject(value)) {
if (!(value["tool_calls"] !== undefined))
return false;
const v58 = value["tool_calls"];
if (v58 !== undefined) {
if (!Array.isArray(v58))
return false;
if (!(v58.length >= 1))
return false;
}
}
return true;
}
function is23(value) {
if (isObject(value)) {
if (!(value["function_call"] !== undefined))
return false;
const v59 = value["function_call"];
if (v59 !== undefined) {
if (!isObject(v59))
return false;
}
}
return true;
}
function is24(value) {
if (isObject(value)) {
if (!(value["refusal"] !== undefined))
return false;
const v60 = value["refusal"];
if (v60 !== undefined) {
if (!(typeof v60 === "string"))
return false;
}
}
return true;
}
function is25(value) {
if (isObject(value)) {
if (!(value["audio"] !== undefined))
return false;
const v61 = value["audio"];
if (v61 !== undefined) {
if (!isObject(v61))
return false;
}
}
return true;
}
function isToolMessage(value) {
if (!isObject(value))
return false;
if (!(value["role"] !== undefined))
return false;
if (!(value["content"] !== undefined))
return false;
if (!(value["tool_call_id"] !== undefined))
return false;
const v63 = value["role"];
if (v63 !== undefined) {
if (!(v63 === "tool"))
return false;
}
const v64 = value["content"];
if (v64 !== undefined) {
if (!(typeof v64 === "string" || Array.isArray(v64)))
return false;
if (Array.isArray(v64)) {
if (!(v64.length >= 1))
return false;
for (const v65 of v64) {
if (!isTextOnlyBlock(v65))
return false;
}
}
}
const v66 = value["tool_call_id"];
if (v66 !== undefined) {
if (!(typeof v66 === "string"))
return false;
}
return true;
}
function isFunctionMessage(value) {
if (!isObject(value))
return false;
if (!(value["role"] !== undefined))
return false;
if (!(value["content"] !== undefined))
return false;
if (!(value["name"] !== undefined))
return false;
const v67 = value["role"];
if (v67 !== undefined) {
if (!(v67 === "function"))
return false;
}
const v68 = value["content"];
if (v68 !== undefined) {
if (!(typeof v68 === "string" || v68 === null))
return false;
}
const v69 = value["name"];
if (v69 !== undefined) {
if (!(typeof v69 === "string"))
return false;
}
return true;
}
function isChatTool(value) {
if (!isObject(value))
return false;
switch (value["type"]) {
case "function":
if (!isFunctionTool(value))
return false;
break;
case "custom":
if (!isCustomTool(value))
return false;
break;
default:
return false;
}
return true;
}
function isFunctionTool(value) {
if (!isObject(value))
return false;
if (!(value["type"] !== undefined))
return false;
if (!(value["function"] !== undefined))
return false;
const v91 = value["type"];
if (v91 !== undefined) {
if (!(v91 === "function"))
return false;
}
const v92 = value["function"];
if (v92 !== undefined) {
if (!isFunctionDefinition(v92))
return false;
}
return true;
}
function isFunctionDefinition(value) {
if (!isObject(value))
return false;
if (!(value["name"] !== undefined))
return false;
const v93 = value["name"];
if (v93 !== undefined) {
if (!(typeof v93 === "string"))
return false;
if (!pattern1.test(v93))
return false;
}
const v94 = value["description"];
if (v94 !== undefined) {
if (!(typeof v94 === "string"))
return false;
}
const v95 = value["parameters"];
if (v95 !== undefined) {
if (!isObject(v95))
return false;
}
const v96 = value["strict"];
if (v96 !== undefined) {
if (!(typeof v96 === "boolean" || v96 === null))
return false;
}
return true;
}
function isCustomTool(value) {
if (!isObject(value))
return false;
if (!(value["type"] !== undefined))
return false;
if (!(value["custom"] !== undefined))
return false;
const v97 = value["type"];
if (v97 !== undefined) {
if (!(v97 === "custom"))
return false;
}
const v98 = value["custom"];
if (v98 !== undefined) {
if (!isObject(v98))
return false;
if (!(v98["name"] !== undefined))
return false;
const v99 = v98["name"];
if (v99 !== undefined) {
if (!(typeof v99 === "string"))
return false;
if (!(v99.length >= 1))
return false;
}
const v100 = v98["description"];
if (v100 !== undefined) {
if (!(typeof v100 === "string"))
return false;
}
const v101 = v98["format"];
if (v101 !== undefined) {
if (!isCustomToolFormat(v101))
return false;
}
}
return true;
}
function isCustomToolFormat(value) {
if (!isObject(value))
return false;
switch (value["type"]) {
case "text":
if (!isTextToolFormat(value))
return false;
break;
case "grammar":
if (!isGrammarToolFormat(value))
return false;
break;
default:
return false;
}
return true;
}
function isTextToolFormat(value) {
if (!isObject(value))
return false;
if (!(value["type"] !== undefined))
return false;
const v102 = value["type"];
if (v102 !== undefined) {
if (!(v102 === "text"))
return false;
}
return true;
}
function isGrammarToolFormat(value) {
if (!isObject(value))
return false;
if (!(value["type"] !== undefined))
return false;
if (!(value["grammar"] !== undefined))
return false;
const v103 = value["type"];
if (v103 !== undefined) {
if (!(v103 === "grammar"))
return false;
}
const v104 = value["grammar"];
if (v104 !== undefined) {
if (!isObject(v104))
return false;
if (!(v104["definition"] !== undefined))
return false;
if (!(v104["syntax"] !== undefined))
return false;
const v105 = v104["definition"];
if (v105 !== undefined) {
if (!(typeof v105 === "string"))
return false;
}
const v106 = v104["syntax"];
if (v106 !== undefined) {
if (!(v106 === "lark" || v106 === "regex"))
return false;
}
}
return true;
}
function isToolChoice(value) {
if (!(isToolChoiceMode(value) || isNamedToolChoice(value)))
return false;
return true;
}
function isToolChoiceMode(value) {
if (!(typeof value === "string"))
return false;
if (!(value === "none" || value === "auto" || value === "required"))
return false;
return true;
}
function isNamedToolChoice(value) {
if (!isObject(value))
return false;
switch (value["type"]) {
case "function":
if (!isFunctionToolChoice(value))
return false;
break;
case "custom":
if (!isCustomToolChoice(value))
return false;
break;
case "allowed_tools":
if (!isAllowedToolsChoice(value))
return false;
break;
default:
return false;
}
return true;
}
function isFunctionToolChoice(value) {
if (!isObject(value))
return false;
if (!(value["type"] !== undefined))
return false;
if (!(value["function"] !== undefined))
return false;
const v108 = value["type"];
if (v108 !== undefined) {
if (!(v108 === "function"))
return false;
}
const v109 = value["function"];
if (v109 !== undefined) {
if (!isObject(v109))
return false;
if (!(v109["name"] !== undefined))
return false;
const v110 = v109["name"];
if (v110 !== undefined) {
if (!(typeof v110 === "string"))
return false;
}
}
return true;
}
function isCustomToolChoice(value) {
if (!isObject(value))
return false;
if (!(value["type"] !== undefined))
return false;
if (!(value["custom"] !== undefined))
return false;
const v111 = value["type"];
if (v111 !== undefined) {
if (!(v111 === "custom"))
return false;
}
const v112 = value["custom"];
if (v112 !== undefined) {
if (!isObject(v112))
return false;
if (!(v112["name"] !== undefined))
return false;
const v113 = v112["name"];
if (v113 !== undefined) {
if (!(typeof v113 === "string"))
return false;
}
}
return true;
}
function isAllowedToolsChoice(value) {
if (!isObject(value))
return false;
if (!(value["type"] !== undefined))
return false;
if (!(value["allowed_tools"] !== undefined))
return false;
const v114 = value["type"];
if (v114 !== undefined) {
if (!(v114 === "allowed_tools"))
return false;
}
const v115 = value["allowed_tools"];
if (v115 !== undefined) {
if (!isObject(v115))
return false;
if (!(v115["mode"] !== undefined))
return false;
if (!(v115["tools"] !== undefined))
return false;
const v116 = v115["mode"];
if (v116 !== undefined) {
if (!(v116 === "auto" || v116 === "required"))
return false;
}
const v117 = v115["tools"];
if (v117 !== undefined) {
if (!Array.isArray(v117))
return false;
for (const v118 of v117) {
if (!isObject(v118))
return false;
}
}
}
return true;
}
function isResponseFormat(value) {
if (!isObject(value))
return false;
switch (value["type"]) {
case "text":
if (!isTextFormat(value))
return false;
break;
case "json_object":
if (!isJsonObjectFormat(value))
return false;
break;
case "json_schema":
if (!isJsonSchemaFormat(value))
return false;
break;
default:
return false;
}
return true;
}
function isTextFormat(value) {
if (!isObject(value))
return false;
if (!(value["type"] !== undefined))
return false;
const v121 = value["type"];
if (v121 !== undefined) {
if (!(v121 === "text"))
return false;
}
return true;
}
function isJsonObjectFormat(value) {
if (!isObject(value))
return false;
if (!(value["type"] !== undefined))
return false;
const v122 = value["type"];
if (v122 !== undefined) {
if (!(v122 === "json_object"))
return false;
}
return true;
}
function isJsonSchemaFormat(value) {
if (!isObject(value))
return false;
if (!(value["type"] !== undefined))
return false;
if (!(value["json_schema"] !== undefined))
return false;
const v123 = value["type"];
if (v123 !== undefined) {
if (!(v123 === "json_schema"))
return false;
}
const v124 = value["json_schema"];
if (v124 !== undefined) {
if (!isObject(v124))
return false;
if (!(v124["name"] !== undefined))
return false;
const v125 = v124["name"];
if (v125 !== undefined) {
if (!(typeof v125 === "string"))
return false;
if (!pattern1.test(v125))
return false;
}
const v126 = v124["description"];
if (v126 !== undefined) {
if (!(typeof v126 === "string"))
return false;
}
const v127 = v124["schema"];
if (v127 !== undefined) {
if (!isObject(v127))
return false;
}
const v128 = v124["strict"];
if (v128 !== undefined) {
if (!(typeof v128 === "boolean" || v128 === null))
return false;
}
}
return true;
}
function isJobMessage(value) {
if (!isObject(value))
return false;
if (is46(value)) {} else {
if (isObject(value)) {
if (!(value["request"] !== undefined))
return false;
}
}
if (!(value["job_id"] !== undefined))
return false;
if (!(value["attempt"] !== undefined))
return false;
if (!(value["dispatch"] !== undefined))
return false;
if (!(value["kind"] !== undefined))
return false;
if (!(value["request_id"] !== undefined))
return false;
if (!(value["workspace_id"] !== undefined))
return false;
if (!(value["key_id"] !== undefined))
return false;
if (!(value["model"] !== undefined))
return false;
if (!(value["hold_nano"] !== undefined))
return false;
if (!(value["may_exceed"] !== undefined))
return false;
if (!(value["output_tokens_max"] !== undefined))
return false;
if (!(value["price"] !== undefined))
return false;
if (!(value["deadline_ms"] !== undefined))
return false;
const v163 = value["job_id"];
if (v163 !== undefined) {
if (!(typeof v163 === "string"))
return false;
if (!pattern2.test(v163))
return false;
}
const v164 = value["attempt"];
if (v164 !== undefined) {
if (!Number.isInteger(v164))
return false;
if (!(v164 >= 1))
return false;
if (!(v164 <= 32767))
return false;
}
const v165 = value["dispatch"];
if (v165 !== undefined) {
if (!Number.isInteger(v165))
return false;
if (!(v165 >= 1))
return false;
}
const v166 = value["kind"];
if (v166 !== undefined) {
if (!(v166 === "chat"))
return false;
}
const v167 = value["request_id"];
if (v167 !== undefined) {
if (!(typeof v167 === "string"))
return false;
}
const v168 = value["workspace_id"];
if (v168 !== undefined) {
if (!(typeof v168 === "string"))
return false;
if (!pattern2.test(v168))
return false;
}
const v169 = value["key_id"];
if (v169 !== undefined) {
if (!(typeof v169 === "string"))
return false;
if (!pattern2.test(v169))
return false;
}
const v170 = value["model"];
if (v170 !== undefined) {
if (!(typeof v170 === "string"))
return false;
if (!(v170.length >= 1))
return false;
}
const v171 = value["hold_nano"];
if (v171 !== undefined) {
if (!(typeof v171 === "string"))
return false;
if (!pattern3.test(v171))
return false;
}
const v172 = value["may_exceed"];
if (v172 !== undefined) {
if (!(typeof v172 === "boolean"))
return false;
}
const v173 = value["output_tokens_max"];
if (v173 !== undefined) {
if (!Number.isInteger(v173))
return false;
if (!(v173 >= 1))
return false;
}
const v174 = value["price"];
if (v174 !== undefined) {
if (!isObject(v174))
return false;
}
const v175 = value["deadline_ms"];
if (v175 !== undefined) {
if (!Number.isInteger(v175))
return false;
if (!(v175 >= 0))
return false;
}
const v176 = value["request"];
if (v176 !== undefined) {
if (!isObject(v176))
return false;
}
const v177 = value["request_ref"];
if (v177 !== undefined) {
if (!(typeof v177 === "string"))
return false;
if (!(v177.length >= 1))
return false;
}
return true;
}
function is46(value) {
if (isObject(value)) {
if (!(value["request_ref"] !== undefined))
return false;
}
return true;
}
var checks = {
ChatCompletionRequest: isChatCompletionRequest,
JobMessage: isJobMessage
};
export {
checks,
validators
};
