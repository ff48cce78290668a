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
var schema31 = { type: "object", additionalProperties: false, properties: { max_n: { type: "integer", minimum: 1 }, aspect_ratios: { type: "array", items: { type: "string" } }, image_sizes: { type: "array", items: { type: "string" } }, sizes: { type: "array", items: { type: "string" } }, resolutions: { type: "array", items: { type: "string" } }, qualities: { type: "array", items: { type: "string" } }, styles: { type: "array", items: { type: "string" } }, background: { type: "array", items: { type: "string" } }, output_formats: { type: "array", items: { type: "string" } }, response_formats: { type: "array", items: { type: "string" } }, person_generation: { type: "array", items: { type: "string" } }, voices: { type: "array", items: { type: "string" } }, supported_inputs: { type: "array", items: { type: "string" } }, speed: { type: "object", additionalProperties: false, required: ["min", "max"], properties: { min: { type: "number", minimum: 0.25, maximum: 4 }, max: { type: "number", minimum: 0.25, maximum: 4 } } }, accepts_voice_instructions: { type: "boolean" }, requires_voice_instructions: { type: "boolean" }, durations: { type: "array", items: { type: "integer", minimum: 0 } }, default_duration: { type: "integer", minimum: 0 }, max_duration_seconds: { type: "integer", minimum: 0 }, default_params: { type: "object" }, strength: { type: "object", additionalProperties: false, required: ["min", "max", "required"], properties: { min: { type: "number" }, max: { type: "number" }, required: { type: "boolean" } } }, requires_input_image: { type: "boolean" }, requires_input_video: { type: "boolean" }, requires_input_audio: { type: "boolean" }, requires_input_3d: { type: "boolean" }, accepts_input_image: { type: "boolean" }, accepts_input_video: { type: "boolean" }, max_file_size_bytes: { type: "integer", minimum: 0 }, max_image_size_bytes: { type: "integer", minimum: 0 }, max_pdf_size_bytes: { type: "integer", minimum: 0 }, max_pdf_pages: { type: "integer", minimum: 0 }, max_audio_size_bytes: { type: "integer", minimum: 0 }, max_audio_duration_seconds: { type: "integer", minimum: 0 }, max_files: { type: "integer", minimum: 0 } } };
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
if (data.speed !== undefined) {
let data25 = data.speed;
const _errs52 = errors;
if (errors === _errs52) {
if (data25 && typeof data25 == "object" && !Array.isArray(data25)) {
let missing0;
if (data25.min === undefined && (missing0 = "min") || data25.max === undefined && (missing0 = "max")) {
validate20.errors = [{ instancePath: instancePath + "/speed", schemaPath: "#/properties/speed/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
const _errs54 = errors;
for (const key1 in data25) {
if (!(key1 === "min" || key1 === "max")) {
validate20.errors = [{ instancePath: instancePath + "/speed", schemaPath: "#/properties/speed/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key1 } }];
return false;
break;
}
}
if (_errs54 === errors) {
if (data25.min !== undefined) {
let data26 = data25.min;
const _errs55 = errors;
if (errors === _errs55) {
if (typeof data26 == "number" && isFinite(data26)) {
if (data26 > 4 || isNaN(data26)) {
validate20.errors = [{ instancePath: instancePath + "/speed/min", schemaPath: "#/properties/speed/properties/min/maximum", keyword: "maximum", params: { comparison: "<=", limit: 4 } }];
return false;
} else {
if (data26 < 0.25 || isNaN(data26)) {
validate20.errors = [{ instancePath: instancePath + "/speed/min", schemaPath: "#/properties/speed/properties/min/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0.25 } }];
return false;
}
}
} else {
validate20.errors = [{ instancePath: instancePath + "/speed/min", schemaPath: "#/properties/speed/properties/min/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid13 = _errs55 === errors;
} else {
var valid13 = true;
}
if (valid13) {
if (data25.max !== undefined) {
let data27 = data25.max;
const _errs57 = errors;
if (errors === _errs57) {
if (typeof data27 == "number" && isFinite(data27)) {
if (data27 > 4 || isNaN(data27)) {
validate20.errors = [{ instancePath: instancePath + "/speed/max", schemaPath: "#/properties/speed/properties/max/maximum", keyword: "maximum", params: { comparison: "<=", limit: 4 } }];
return false;
} else {
if (data27 < 0.25 || isNaN(data27)) {
validate20.errors = [{ instancePath: instancePath + "/speed/max", schemaPath: "#/properties/speed/properties/max/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0.25 } }];
return false;
}
}
} else {
validate20.errors = [{ instancePath: instancePath + "/speed/max", schemaPath: "#/properties/speed/properties/max/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid13 = _errs57 === errors;
} else {
var valid13 = true;
}
}
}
}
} else {
validate20.errors = [{ instancePath: instancePath + "/speed", schemaPath: "#/properties/speed/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs52 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.accepts_voice_instructions !== undefined) {
const _errs59 = errors;
if (typeof data.accepts_voice_instructions !== "boolean") {
validate20.errors = [{ instancePath: instancePath + "/accepts_voice_instructions", schemaPath: "#/properties/accepts_voice_instructions/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs59 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.requires_voice_instructions !== undefined) {
const _errs61 = errors;
if (typeof data.requires_voice_instructions !== "boolean") {
validate20.errors = [{ instancePath: instancePath + "/requires_voice_instructions", schemaPath: "#/properties/requires_voice_instructions/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs61 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.durations !== undefined) {
let data30 = data.durations;
const _errs63 = errors;
if (errors === _errs63) {
if (Array.isArray(data30)) {
var valid14 = true;
const len12 = data30.length;
for (let i12 = 0;i12 < len12; i12++) {
let data31 = data30[i12];
const _errs65 = errors;
if (!(typeof data31 == "number" && (!(data31 % 1) && !isNaN(data31)) && isFinite(data31))) {
validate20.errors = [{ instancePath: instancePath + "/durations/" + i12, schemaPath: "#/properties/durations/items/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs65) {
if (typeof data31 == "number" && isFinite(data31)) {
if (data31 < 0 || isNaN(data31)) {
validate20.errors = [{ instancePath: instancePath + "/durations/" + i12, schemaPath: "#/properties/durations/items/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid14 = _errs65 === errors;
if (!valid14) {
break;
}
}
} else {
validate20.errors = [{ instancePath: instancePath + "/durations", schemaPath: "#/properties/durations/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs63 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.default_duration !== undefined) {
let data32 = data.default_duration;
const _errs67 = errors;
if (!(typeof data32 == "number" && (!(data32 % 1) && !isNaN(data32)) && isFinite(data32))) {
validate20.errors = [{ instancePath: instancePath + "/default_duration", schemaPath: "#/properties/default_duration/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs67) {
if (typeof data32 == "number" && isFinite(data32)) {
if (data32 < 0 || isNaN(data32)) {
validate20.errors = [{ instancePath: instancePath + "/default_duration", schemaPath: "#/properties/default_duration/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs67 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.max_duration_seconds !== undefined) {
let data33 = data.max_duration_seconds;
const _errs69 = errors;
if (!(typeof data33 == "number" && (!(data33 % 1) && !isNaN(data33)) && isFinite(data33))) {
validate20.errors = [{ instancePath: instancePath + "/max_duration_seconds", schemaPath: "#/properties/max_duration_seconds/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs69) {
if (typeof data33 == "number" && isFinite(data33)) {
if (data33 < 0 || isNaN(data33)) {
validate20.errors = [{ instancePath: instancePath + "/max_duration_seconds", schemaPath: "#/properties/max_duration_seconds/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs69 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.default_params !== undefined) {
let data34 = data.default_params;
const _errs71 = errors;
if (!(data34 && typeof data34 == "object" && !Array.isArray(data34))) {
validate20.errors = [{ instancePath: instancePath + "/default_params", schemaPath: "#/properties/default_params/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid0 = _errs71 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.strength !== undefined) {
let data35 = data.strength;
const _errs73 = errors;
if (errors === _errs73) {
if (data35 && typeof data35 == "object" && !Array.isArray(data35)) {
let missing1;
if (data35.min === undefined && (missing1 = "min") || data35.max === undefined && (missing1 = "max") || data35.required === undefined && (missing1 = "required")) {
validate20.errors = [{ instancePath: instancePath + "/strength", schemaPath: "#/properties/strength/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
const _errs75 = errors;
for (const key2 in data35) {
if (!(key2 === "min" || key2 === "max" || key2 === "required")) {
validate20.errors = [{ instancePath: instancePath + "/strength", schemaPath: "#/properties/strength/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key2 } }];
return false;
break;
}
}
if (_errs75 === errors) {
if (data35.min !== undefined) {
let data36 = data35.min;
const _errs76 = errors;
if (!(typeof data36 == "number" && isFinite(data36))) {
validate20.errors = [{ instancePath: instancePath + "/strength/min", schemaPath: "#/properties/strength/properties/min/type", keyword: "type", params: { type: "number" } }];
return false;
}
var valid15 = _errs76 === errors;
} else {
var valid15 = true;
}
if (valid15) {
if (data35.max !== undefined) {
let data37 = data35.max;
const _errs78 = errors;
if (!(typeof data37 == "number" && isFinite(data37))) {
validate20.errors = [{ instancePath: instancePath + "/strength/max", schemaPath: "#/properties/strength/properties/max/type", keyword: "type", params: { type: "number" } }];
return false;
}
var valid15 = _errs78 === errors;
} else {
var valid15 = true;
}
if (valid15) {
if (data35.required !== undefined) {
const _errs80 = errors;
if (typeof data35.required !== "boolean") {
validate20.errors = [{ instancePath: instancePath + "/strength/required", schemaPath: "#/properties/strength/properties/required/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid15 = _errs80 === errors;
} else {
var valid15 = true;
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
var valid0 = _errs73 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.requires_input_image !== undefined) {
const _errs82 = errors;
if (typeof data.requires_input_image !== "boolean") {
validate20.errors = [{ instancePath: instancePath + "/requires_input_image", schemaPath: "#/properties/requires_input_image/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs82 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.requires_input_video !== undefined) {
const _errs84 = errors;
if (typeof data.requires_input_video !== "boolean") {
validate20.errors = [{ instancePath: instancePath + "/requires_input_video", schemaPath: "#/properties/requires_input_video/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs84 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.requires_input_audio !== undefined) {
const _errs86 = errors;
if (typeof data.requires_input_audio !== "boolean") {
validate20.errors = [{ instancePath: instancePath + "/requires_input_audio", schemaPath: "#/properties/requires_input_audio/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs86 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.requires_input_3d !== undefined) {
const _errs88 = errors;
if (typeof data.requires_input_3d !== "boolean") {
validate20.errors = [{ instancePath: instancePath + "/requires_input_3d", schemaPath: "#/properties/requires_input_3d/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs88 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.accepts_input_image !== undefined) {
const _errs90 = errors;
if (typeof data.accepts_input_image !== "boolean") {
validate20.errors = [{ instancePath: instancePath + "/accepts_input_image", schemaPath: "#/properties/accepts_input_image/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs90 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.accepts_input_video !== undefined) {
const _errs92 = errors;
if (typeof data.accepts_input_video !== "boolean") {
validate20.errors = [{ instancePath: instancePath + "/accepts_input_video", schemaPath: "#/properties/accepts_input_video/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs92 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.max_file_size_bytes !== undefined) {
let data45 = data.max_file_size_bytes;
const _errs94 = errors;
if (!(typeof data45 == "number" && (!(data45 % 1) && !isNaN(data45)) && isFinite(data45))) {
validate20.errors = [{ instancePath: instancePath + "/max_file_size_bytes", schemaPath: "#/properties/max_file_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs94) {
if (typeof data45 == "number" && isFinite(data45)) {
if (data45 < 0 || isNaN(data45)) {
validate20.errors = [{ instancePath: instancePath + "/max_file_size_bytes", schemaPath: "#/properties/max_file_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs94 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.max_image_size_bytes !== undefined) {
let data46 = data.max_image_size_bytes;
const _errs96 = errors;
if (!(typeof data46 == "number" && (!(data46 % 1) && !isNaN(data46)) && isFinite(data46))) {
validate20.errors = [{ instancePath: instancePath + "/max_image_size_bytes", schemaPath: "#/properties/max_image_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs96) {
if (typeof data46 == "number" && isFinite(data46)) {
if (data46 < 0 || isNaN(data46)) {
validate20.errors = [{ instancePath: instancePath + "/max_image_size_bytes", schemaPath: "#/properties/max_image_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs96 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.max_pdf_size_bytes !== undefined) {
let data47 = data.max_pdf_size_bytes;
const _errs98 = errors;
if (!(typeof data47 == "number" && (!(data47 % 1) && !isNaN(data47)) && isFinite(data47))) {
validate20.errors = [{ instancePath: instancePath + "/max_pdf_size_bytes", schemaPath: "#/properties/max_pdf_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs98) {
if (typeof data47 == "number" && isFinite(data47)) {
if (data47 < 0 || isNaN(data47)) {
validate20.errors = [{ instancePath: instancePath + "/max_pdf_size_bytes", schemaPath: "#/properties/max_pdf_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs98 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.max_pdf_pages !== undefined) {
let data48 = data.max_pdf_pages;
const _errs100 = errors;
if (!(typeof data48 == "number" && (!(data48 % 1) && !isNaN(data48)) && isFinite(data48))) {
validate20.errors = [{ instancePath: instancePath + "/max_pdf_pages", schemaPath: "#/properties/max_pdf_pages/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs100) {
if (typeof data48 == "number" && isFinite(data48)) {
if (data48 < 0 || isNaN(data48)) {
validate20.errors = [{ instancePath: instancePath + "/max_pdf_pages", schemaPath: "#/properties/max_pdf_pages/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs100 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.max_audio_size_bytes !== undefined) {
let data49 = data.max_audio_size_bytes;
const _errs102 = errors;
if (!(typeof data49 == "number" && (!(data49 % 1) && !isNaN(data49)) && isFinite(data49))) {
validate20.errors = [{ instancePath: instancePath + "/max_audio_size_bytes", schemaPath: "#/properties/max_audio_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs102) {
if (typeof data49 == "number" && isFinite(data49)) {
if (data49 < 0 || isNaN(data49)) {
validate20.errors = [{ instancePath: instancePath + "/max_audio_size_bytes", schemaPath: "#/properties/max_audio_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs102 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.max_audio_duration_seconds !== undefined) {
let data50 = data.max_audio_duration_seconds;
const _errs104 = errors;
if (!(typeof data50 == "number" && (!(data50 % 1) && !isNaN(data50)) && isFinite(data50))) {
validate20.errors = [{ instancePath: instancePath + "/max_audio_duration_seconds", schemaPath: "#/properties/max_audio_duration_seconds/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs104) {
if (typeof data50 == "number" && isFinite(data50)) {
if (data50 < 0 || isNaN(data50)) {
validate20.errors = [{ instancePath: instancePath + "/max_audio_duration_seconds", schemaPath: "#/properties/max_audio_duration_seconds/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs104 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.max_files !== undefined) {
let data51 = data.max_files;
const _errs106 = errors;
if (!(typeof data51 == "number" && (!(data51 % 1) && !isNaN(data51)) && isFinite(data51))) {
validate20.errors = [{ instancePath: instancePath + "/max_files", schemaPath: "#/properties/max_files/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs106) {
if (typeof data51 == "number" && isFinite(data51)) {
if (data51 < 0 || isNaN(data51)) {
validate20.errors = [{ instancePath: instancePath + "/max_files", schemaPath: "#/properties/max_files/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
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
validate20.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate20.errors = vErrors;
return errors === 0;
}
validate20.evaluated = { props: true, dynamicProps: false, dynamicItems: false };
var validateBatchAnswer = validate21;
var schema32 = { type: "object", required: ["key", "job_id", "status"], properties: { key: { type: ["string", "null"] }, job_id: { type: "string", format: "uuid" }, status: { enum: ["waiting", "queued", "running", "completed", "failed", "cancelled", "refused"] }, result: { type: "object" }, error: { type: "object" }, credits_used: { type: "number", minimum: 0 } } };
var formats0 = /^(?:urn:uuid:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
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
let missing0;
if (data.key === undefined && (missing0 = "key") || data.job_id === undefined && (missing0 = "job_id") || data.status === undefined && (missing0 = "status")) {
validate21.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.key !== undefined) {
let data0 = data.key;
const _errs1 = errors;
if (typeof data0 !== "string" && data0 !== null) {
validate21.errors = [{ instancePath: instancePath + "/key", schemaPath: "#/properties/key/type", keyword: "type", params: { type: schema32.properties.key.type } }];
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
if (!formats0.test(data1)) {
validate21.errors = [{ instancePath: instancePath + "/job_id", schemaPath: "#/properties/job_id/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate21.errors = [{ instancePath: instancePath + "/job_id", schemaPath: "#/properties/job_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.status !== undefined) {
let data2 = data.status;
const _errs5 = errors;
if (!(data2 === "waiting" || data2 === "queued" || data2 === "running" || data2 === "completed" || data2 === "failed" || data2 === "cancelled" || data2 === "refused")) {
validate21.errors = [{ instancePath: instancePath + "/status", schemaPath: "#/properties/status/enum", keyword: "enum", params: { allowedValues: schema32.properties.status.enum } }];
return false;
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.result !== undefined) {
let data3 = data.result;
const _errs6 = errors;
if (!(data3 && typeof data3 == "object" && !Array.isArray(data3))) {
validate21.errors = [{ instancePath: instancePath + "/result", schemaPath: "#/properties/result/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid0 = _errs6 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.error !== undefined) {
let data4 = data.error;
const _errs8 = errors;
if (!(data4 && typeof data4 == "object" && !Array.isArray(data4))) {
validate21.errors = [{ instancePath: instancePath + "/error", schemaPath: "#/properties/error/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid0 = _errs8 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.credits_used !== undefined) {
let data5 = data.credits_used;
const _errs10 = errors;
if (errors === _errs10) {
if (typeof data5 == "number" && isFinite(data5)) {
if (data5 < 0 || isNaN(data5)) {
validate21.errors = [{ instancePath: instancePath + "/credits_used", schemaPath: "#/properties/credits_used/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate21.errors = [{ instancePath: instancePath + "/credits_used", schemaPath: "#/properties/credits_used/type", keyword: "type", params: { type: "number" } }];
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
validate21.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate21.errors = vErrors;
return errors === 0;
}
validate21.evaluated = { props: { key: true, job_id: true, status: true, result: true, error: true, credits_used: true }, dynamicProps: false, dynamicItems: false };
var validateBatchMessage = validate22;
var schema33 = { type: "object", required: ["body"], properties: { endpoint: { type: "string", enum: ["/v1/chat/completions", "/v1/embeddings", "/v1/images/generations", "/v1/images/edits", "/v1/audio/speech", "/v1/audio/transcriptions", "/v1/music/generations", "/v1/videos/generations", "/v1/3d/generations"] }, body: { type: "object" } } };
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
if (data.body === undefined && (missing0 = "body")) {
validate22.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.endpoint !== undefined) {
let data0 = data.endpoint;
const _errs1 = errors;
if (typeof data0 !== "string") {
validate22.errors = [{ instancePath: instancePath + "/endpoint", schemaPath: "#/properties/endpoint/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "/v1/chat/completions" || data0 === "/v1/embeddings" || data0 === "/v1/images/generations" || data0 === "/v1/images/edits" || data0 === "/v1/audio/speech" || data0 === "/v1/audio/transcriptions" || data0 === "/v1/music/generations" || data0 === "/v1/videos/generations" || data0 === "/v1/3d/generations")) {
validate22.errors = [{ instancePath: instancePath + "/endpoint", schemaPath: "#/properties/endpoint/enum", keyword: "enum", params: { allowedValues: schema33.properties.endpoint.enum } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.body !== undefined) {
let data1 = data.body;
const _errs3 = errors;
if (!(data1 && typeof data1 == "object" && !Array.isArray(data1))) {
validate22.errors = [{ instancePath: instancePath + "/body", schemaPath: "#/properties/body/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
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
validate22.evaluated = { props: { endpoint: true, body: true }, dynamicProps: false, dynamicItems: false };
var validateCatalogueFile = validate23;
var schema35 = { type: "object", additionalProperties: false, required: ["id"], properties: { id: { type: "string", pattern: "^[a-z0-9][a-z0-9-]{0,63}$" }, disabled: { type: "boolean" }, family: { type: "string", enum: ["sandbox", "openai-compatible", "anthropic", "gemini", "google-cloud", "fal", "replicate", "elevenlabs", "deepgram", "meshy", "tripo"] }, base_url: { type: "string", minLength: 1, maxLength: 2000 }, api_key_env: { type: "string", pattern: "^[A-Z][A-Z0-9_]*_API_KEY$" }, breaker: { type: "string", enum: ["on", "off"] }, on_disconnect: { type: "string", enum: ["abort", "drain"] }, first_byte_ms: { type: "integer", minimum: 100, maximum: 3600000 }, media: { type: "string", enum: ["inline", "pass"] } } };
var schema36 = { type: "object", additionalProperties: false, required: ["name"], properties: { name: { type: "string", pattern: "^[a-z0-9][a-z0-9_-]{0,63}$" }, disabled: { type: "boolean" }, requests_per_minute: { type: ["integer", "null"], minimum: 1, maximum: 4095 }, daily_tokens: { type: ["integer", "null"], minimum: 1, maximum: 9007199254740991 } } };
var func3 = require_ucs2length().default;
var pattern4 = new RegExp("^[a-z0-9][a-z0-9-]{0,63}$", "u");
var pattern5 = new RegExp("^[A-Z][A-Z0-9_]*_API_KEY$", "u");
var pattern6 = new RegExp("^[a-z0-9][a-z0-9_-]{0,63}$", "u");
var schema37 = { type: "object", additionalProperties: false, required: ["slug"], properties: { slug: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$" }, disabled: { type: "boolean" }, kind: { type: "string", enum: ["model", "tool"] }, modality: { $ref: "Modality" }, owned_by: { type: "string", minLength: 1, maxLength: 100 }, created: { type: "integer", minimum: 0 }, supports_chat: { type: "boolean" }, supports_embeddings: { type: "boolean" }, supports_streaming: { type: "boolean" }, supports_tools: { type: "boolean" }, supports_json: { type: "boolean" }, max_context_tokens: { type: "integer", minimum: 0, maximum: 1e8 }, max_output_tokens: { type: "integer", minimum: 0, maximum: 1e8 }, tokens_per_image_max: { type: "integer", minimum: 1, maximum: 1e6 }, embedding: { $ref: "EmbeddingFacts" }, first_byte_ms: { type: "integer", minimum: 100, maximum: 3600000 }, cache_ttl_s: { type: "integer", minimum: 1, maximum: 86400 }, pricing: { $ref: "PricingText" }, price_variants: { type: "array", minItems: 1, items: { $ref: "PriceVariant" } }, seconds_of: { type: "string", enum: ["media", "compute"] }, compute_seconds_max: { type: "integer", minimum: 1, maximum: 86400 }, compute_seconds_usual: { type: "integer", minimum: 1, maximum: 86400 }, price_source: { $ref: "PriceSource" }, allowed_params: { $ref: "AllowedParams" }, sources: { type: "array", minItems: 1, items: { $ref: "SourceEntry" } } } };
var schema38 = { type: "string", enum: ["text", "image", "audio", "stt", "video", "music", "embedding", "upscale", "vision", "object_3d"] };
var schema42 = { type: "object", additionalProperties: false, required: ["when", "price"], properties: { when: { type: "object", minProperties: 1, propertyNames: { enum: ["quality", "size", "image_size", "resolution", "duration", "aspect_ratio", "prompt_extend"] }, additionalProperties: { type: ["string", "integer", "boolean"] } }, price: { type: "string", minLength: 1, maxLength: 40 } } };
var schema45 = { type: "object", additionalProperties: false, required: ["provider", "model"], properties: { provider: { type: "string", minLength: 1, maxLength: 64 }, model: { type: "string", minLength: 1, maxLength: 300 }, drop_params: { type: "array", items: { type: "string", minLength: 1 } }, rename_params: { type: "object", additionalProperties: { type: "string", minLength: 1 } }, overrides: { type: "object" }, fields: { type: "object", propertyNames: { enum: ["n", "size", "quality", "style", "aspect_ratio", "image_size", "background", "output_format", "output_compression", "input_fidelity", "moderation", "negative_prompt", "person_generation", "seed", "steps", "prompt_extend", "user", "strength", "image", "mask", "prompt", "video", "mesh", "duration", "resolution", "lyrics"] }, additionalProperties: { type: "string", pattern: "^[A-Za-z][A-Za-z0-9_]*([.][A-Za-z][A-Za-z0-9_]*)*(\\[\\])?(:(text|s|ms))?$", maxLength: 100 } }, continues_assistant: { type: "boolean" }, continue_overrides: { type: "object" }, continue_message: { type: "object" }, continue_repeats: { type: "boolean" }, traits: { type: "array", uniqueItems: true, items: { type: "string", enum: ["cache_control", "reasoning_back", "reasoning_details_back", "no_sampling", "temperature_or_top_p", "json_by_tool", "json_by_converted_schema", "no_json_with_tools", "no_reasoning", "no_xhigh_effort", "reasoning_by_budget", "reasoning_always"] } } } };
var pattern7 = new RegExp("^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$", "u");
var pattern8 = new RegExp("^[A-Za-z][A-Za-z0-9_]*([.][A-Za-z][A-Za-z0-9_]*)*(\\[\\])?(:(text|s|ms))?$", "u");
var schema40 = { type: "object", additionalProperties: false, properties: { currency: { const: "credits" }, unit: { $ref: "PriceUnit" }, input_per_million: { type: "string", minLength: 1, maxLength: 40 }, output_per_million: { type: "string", minLength: 1, maxLength: 40 }, audio_input_per_million: { type: "string", minLength: 1, maxLength: 40 }, audio_output_per_million: { type: "string", minLength: 1, maxLength: 40 }, image_input_per_million: { type: "string", minLength: 1, maxLength: 40 }, image_output_per_million: { type: "string", minLength: 1, maxLength: 40 }, cached_input_per_million: { type: "string", minLength: 1, maxLength: 40 }, cache_write_per_million: { type: "string", minLength: 1, maxLength: 40 }, cache_write_1h_per_million: { type: "string", minLength: 1, maxLength: 40 }, request_price: { type: "string", minLength: 1, maxLength: 40 }, image_price: { type: "string", minLength: 1, maxLength: 40 }, second_price: { type: "string", minLength: 1, maxLength: 40 }, minute_price: { type: "string", minLength: 1, maxLength: 40 }, character_price: { type: "string", minLength: 1, maxLength: 40 }, operation_price: { type: "string", minLength: 1, maxLength: 40 }, megapixel_price: { type: "string", minLength: 1, maxLength: 40 } } };
var schema41 = { type: "string", enum: ["per_token", "per_request", "per_image", "per_second", "per_minute", "per_character", "per_operation", "per_megapixel"] };
function validate25(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate25.evaluated;
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
if (!func1.call(schema40.properties, key0)) {
validate25.errors = [{ instancePath, schemaPath: "#/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } }];
return false;
break;
}
}
if (_errs1 === errors) {
if (data.currency !== undefined) {
const _errs2 = errors;
if (data.currency !== "credits") {
validate25.errors = [{ instancePath: instancePath + "/currency", schemaPath: "#/properties/currency/const", keyword: "const", params: { allowedValue: "credits" } }];
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
validate25.errors = [{ instancePath: instancePath + "/unit", schemaPath: "PriceUnit/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data1 === "per_token" || data1 === "per_request" || data1 === "per_image" || data1 === "per_second" || data1 === "per_minute" || data1 === "per_character" || data1 === "per_operation" || data1 === "per_megapixel")) {
validate25.errors = [{ instancePath: instancePath + "/unit", schemaPath: "PriceUnit/enum", keyword: "enum", params: { allowedValues: schema41.enum } }];
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
if (func3(data2) > 40) {
validate25.errors = [{ instancePath: instancePath + "/input_per_million", schemaPath: "#/properties/input_per_million/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func3(data2) < 1) {
validate25.errors = [{ instancePath: instancePath + "/input_per_million", schemaPath: "#/properties/input_per_million/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate25.errors = [{ instancePath: instancePath + "/input_per_million", schemaPath: "#/properties/input_per_million/type", keyword: "type", params: { type: "string" } }];
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
if (func3(data3) > 40) {
validate25.errors = [{ instancePath: instancePath + "/output_per_million", schemaPath: "#/properties/output_per_million/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func3(data3) < 1) {
validate25.errors = [{ instancePath: instancePath + "/output_per_million", schemaPath: "#/properties/output_per_million/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate25.errors = [{ instancePath: instancePath + "/output_per_million", schemaPath: "#/properties/output_per_million/type", keyword: "type", params: { type: "string" } }];
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
if (func3(data4) > 40) {
validate25.errors = [{ instancePath: instancePath + "/audio_input_per_million", schemaPath: "#/properties/audio_input_per_million/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func3(data4) < 1) {
validate25.errors = [{ instancePath: instancePath + "/audio_input_per_million", schemaPath: "#/properties/audio_input_per_million/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate25.errors = [{ instancePath: instancePath + "/audio_input_per_million", schemaPath: "#/properties/audio_input_per_million/type", keyword: "type", params: { type: "string" } }];
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
if (func3(data5) > 40) {
validate25.errors = [{ instancePath: instancePath + "/audio_output_per_million", schemaPath: "#/properties/audio_output_per_million/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func3(data5) < 1) {
validate25.errors = [{ instancePath: instancePath + "/audio_output_per_million", schemaPath: "#/properties/audio_output_per_million/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate25.errors = [{ instancePath: instancePath + "/audio_output_per_million", schemaPath: "#/properties/audio_output_per_million/type", keyword: "type", params: { type: "string" } }];
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
if (func3(data6) > 40) {
validate25.errors = [{ instancePath: instancePath + "/image_input_per_million", schemaPath: "#/properties/image_input_per_million/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func3(data6) < 1) {
validate25.errors = [{ instancePath: instancePath + "/image_input_per_million", schemaPath: "#/properties/image_input_per_million/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate25.errors = [{ instancePath: instancePath + "/image_input_per_million", schemaPath: "#/properties/image_input_per_million/type", keyword: "type", params: { type: "string" } }];
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
if (func3(data7) > 40) {
validate25.errors = [{ instancePath: instancePath + "/image_output_per_million", schemaPath: "#/properties/image_output_per_million/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func3(data7) < 1) {
validate25.errors = [{ instancePath: instancePath + "/image_output_per_million", schemaPath: "#/properties/image_output_per_million/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate25.errors = [{ instancePath: instancePath + "/image_output_per_million", schemaPath: "#/properties/image_output_per_million/type", keyword: "type", params: { type: "string" } }];
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
if (func3(data8) > 40) {
validate25.errors = [{ instancePath: instancePath + "/cached_input_per_million", schemaPath: "#/properties/cached_input_per_million/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func3(data8) < 1) {
validate25.errors = [{ instancePath: instancePath + "/cached_input_per_million", schemaPath: "#/properties/cached_input_per_million/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate25.errors = [{ instancePath: instancePath + "/cached_input_per_million", schemaPath: "#/properties/cached_input_per_million/type", keyword: "type", params: { type: "string" } }];
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
if (func3(data9) > 40) {
validate25.errors = [{ instancePath: instancePath + "/cache_write_per_million", schemaPath: "#/properties/cache_write_per_million/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func3(data9) < 1) {
validate25.errors = [{ instancePath: instancePath + "/cache_write_per_million", schemaPath: "#/properties/cache_write_per_million/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate25.errors = [{ instancePath: instancePath + "/cache_write_per_million", schemaPath: "#/properties/cache_write_per_million/type", keyword: "type", params: { type: "string" } }];
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
if (func3(data10) > 40) {
validate25.errors = [{ instancePath: instancePath + "/cache_write_1h_per_million", schemaPath: "#/properties/cache_write_1h_per_million/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func3(data10) < 1) {
validate25.errors = [{ instancePath: instancePath + "/cache_write_1h_per_million", schemaPath: "#/properties/cache_write_1h_per_million/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate25.errors = [{ instancePath: instancePath + "/cache_write_1h_per_million", schemaPath: "#/properties/cache_write_1h_per_million/type", keyword: "type", params: { type: "string" } }];
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
if (func3(data11) > 40) {
validate25.errors = [{ instancePath: instancePath + "/request_price", schemaPath: "#/properties/request_price/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func3(data11) < 1) {
validate25.errors = [{ instancePath: instancePath + "/request_price", schemaPath: "#/properties/request_price/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate25.errors = [{ instancePath: instancePath + "/request_price", schemaPath: "#/properties/request_price/type", keyword: "type", params: { type: "string" } }];
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
if (func3(data12) > 40) {
validate25.errors = [{ instancePath: instancePath + "/image_price", schemaPath: "#/properties/image_price/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func3(data12) < 1) {
validate25.errors = [{ instancePath: instancePath + "/image_price", schemaPath: "#/properties/image_price/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate25.errors = [{ instancePath: instancePath + "/image_price", schemaPath: "#/properties/image_price/type", keyword: "type", params: { type: "string" } }];
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
if (func3(data13) > 40) {
validate25.errors = [{ instancePath: instancePath + "/second_price", schemaPath: "#/properties/second_price/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func3(data13) < 1) {
validate25.errors = [{ instancePath: instancePath + "/second_price", schemaPath: "#/properties/second_price/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate25.errors = [{ instancePath: instancePath + "/second_price", schemaPath: "#/properties/second_price/type", keyword: "type", params: { type: "string" } }];
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
if (func3(data14) > 40) {
validate25.errors = [{ instancePath: instancePath + "/minute_price", schemaPath: "#/properties/minute_price/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func3(data14) < 1) {
validate25.errors = [{ instancePath: instancePath + "/minute_price", schemaPath: "#/properties/minute_price/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate25.errors = [{ instancePath: instancePath + "/minute_price", schemaPath: "#/properties/minute_price/type", keyword: "type", params: { type: "string" } }];
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
if (func3(data15) > 40) {
validate25.errors = [{ instancePath: instancePath + "/character_price", schemaPath: "#/properties/character_price/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func3(data15) < 1) {
validate25.errors = [{ instancePath: instancePath + "/character_price", schemaPath: "#/properties/character_price/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate25.errors = [{ instancePath: instancePath + "/character_price", schemaPath: "#/properties/character_price/type", keyword: "type", params: { type: "string" } }];
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
if (func3(data16) > 40) {
validate25.errors = [{ instancePath: instancePath + "/operation_price", schemaPath: "#/properties/operation_price/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func3(data16) < 1) {
validate25.errors = [{ instancePath: instancePath + "/operation_price", schemaPath: "#/properties/operation_price/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate25.errors = [{ instancePath: instancePath + "/operation_price", schemaPath: "#/properties/operation_price/type", keyword: "type", params: { type: "string" } }];
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
if (func3(data17) > 40) {
validate25.errors = [{ instancePath: instancePath + "/megapixel_price", schemaPath: "#/properties/megapixel_price/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func3(data17) < 1) {
validate25.errors = [{ instancePath: instancePath + "/megapixel_price", schemaPath: "#/properties/megapixel_price/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate25.errors = [{ instancePath: instancePath + "/megapixel_price", schemaPath: "#/properties/megapixel_price/type", keyword: "type", params: { type: "string" } }];
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
validate25.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate25.errors = vErrors;
return errors === 0;
}
validate25.evaluated = { props: true, dynamicProps: false, dynamicItems: false };
var formats2 = require_formats().fullFormats.date;
function validate24(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate24.evaluated;
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
validate24.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
const _errs1 = errors;
for (const key0 in data) {
if (!func1.call(schema37.properties, key0)) {
validate24.errors = [{ instancePath, schemaPath: "#/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } }];
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
validate24.errors = [{ instancePath: instancePath + "/slug", schemaPath: "#/properties/slug/pattern", keyword: "pattern", params: { pattern: "^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$" } }];
return false;
}
} else {
validate24.errors = [{ instancePath: instancePath + "/slug", schemaPath: "#/properties/slug/type", keyword: "type", params: { type: "string" } }];
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
validate24.errors = [{ instancePath: instancePath + "/disabled", schemaPath: "#/properties/disabled/type", keyword: "type", params: { type: "boolean" } }];
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
validate24.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data2 === "model" || data2 === "tool")) {
validate24.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/enum", keyword: "enum", params: { allowedValues: schema37.properties.kind.enum } }];
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
validate24.errors = [{ instancePath: instancePath + "/modality", schemaPath: "Modality/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data3 === "text" || data3 === "image" || data3 === "audio" || data3 === "stt" || data3 === "video" || data3 === "music" || data3 === "embedding" || data3 === "upscale" || data3 === "vision" || data3 === "object_3d")) {
validate24.errors = [{ instancePath: instancePath + "/modality", schemaPath: "Modality/enum", keyword: "enum", params: { allowedValues: schema38.enum } }];
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
if (func3(data4) > 100) {
validate24.errors = [{ instancePath: instancePath + "/owned_by", schemaPath: "#/properties/owned_by/maxLength", keyword: "maxLength", params: { limit: 100 } }];
return false;
} else {
if (func3(data4) < 1) {
validate24.errors = [{ instancePath: instancePath + "/owned_by", schemaPath: "#/properties/owned_by/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/owned_by", schemaPath: "#/properties/owned_by/type", keyword: "type", params: { type: "string" } }];
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
validate24.errors = [{ instancePath: instancePath + "/created", schemaPath: "#/properties/created/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs13) {
if (typeof data5 == "number" && isFinite(data5)) {
if (data5 < 0 || isNaN(data5)) {
validate24.errors = [{ instancePath: instancePath + "/created", schemaPath: "#/properties/created/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate24.errors = [{ instancePath: instancePath + "/supports_chat", schemaPath: "#/properties/supports_chat/type", keyword: "type", params: { type: "boolean" } }];
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
validate24.errors = [{ instancePath: instancePath + "/supports_embeddings", schemaPath: "#/properties/supports_embeddings/type", keyword: "type", params: { type: "boolean" } }];
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
validate24.errors = [{ instancePath: instancePath + "/supports_streaming", schemaPath: "#/properties/supports_streaming/type", keyword: "type", params: { type: "boolean" } }];
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
validate24.errors = [{ instancePath: instancePath + "/supports_tools", schemaPath: "#/properties/supports_tools/type", keyword: "type", params: { type: "boolean" } }];
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
validate24.errors = [{ instancePath: instancePath + "/supports_json", schemaPath: "#/properties/supports_json/type", keyword: "type", params: { type: "boolean" } }];
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
validate24.errors = [{ instancePath: instancePath + "/max_context_tokens", schemaPath: "#/properties/max_context_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs25) {
if (typeof data11 == "number" && isFinite(data11)) {
if (data11 > 1e8 || isNaN(data11)) {
validate24.errors = [{ instancePath: instancePath + "/max_context_tokens", schemaPath: "#/properties/max_context_tokens/maximum", keyword: "maximum", params: { comparison: "<=", limit: 1e8 } }];
return false;
} else {
if (data11 < 0 || isNaN(data11)) {
validate24.errors = [{ instancePath: instancePath + "/max_context_tokens", schemaPath: "#/properties/max_context_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate24.errors = [{ instancePath: instancePath + "/max_output_tokens", schemaPath: "#/properties/max_output_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs27) {
if (typeof data12 == "number" && isFinite(data12)) {
if (data12 > 1e8 || isNaN(data12)) {
validate24.errors = [{ instancePath: instancePath + "/max_output_tokens", schemaPath: "#/properties/max_output_tokens/maximum", keyword: "maximum", params: { comparison: "<=", limit: 1e8 } }];
return false;
} else {
if (data12 < 0 || isNaN(data12)) {
validate24.errors = [{ instancePath: instancePath + "/max_output_tokens", schemaPath: "#/properties/max_output_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate24.errors = [{ instancePath: instancePath + "/tokens_per_image_max", schemaPath: "#/properties/tokens_per_image_max/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs29) {
if (typeof data13 == "number" && isFinite(data13)) {
if (data13 > 1e6 || isNaN(data13)) {
validate24.errors = [{ instancePath: instancePath + "/tokens_per_image_max", schemaPath: "#/properties/tokens_per_image_max/maximum", keyword: "maximum", params: { comparison: "<=", limit: 1e6 } }];
return false;
} else {
if (data13 < 1 || isNaN(data13)) {
validate24.errors = [{ instancePath: instancePath + "/tokens_per_image_max", schemaPath: "#/properties/tokens_per_image_max/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
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
if (data.embedding !== undefined) {
let data14 = data.embedding;
const _errs31 = errors;
const _errs32 = errors;
if (errors === _errs32) {
if (data14 && typeof data14 == "object" && !Array.isArray(data14)) {
const _errs34 = errors;
for (const key1 in data14) {
if (!(key1 === "dimensions" || key1 === "dimensions_min" || key1 === "dimensions_max" || key1 === "inputs_max" || key1 === "vocabulary" || key1 === "source_inputs_max" || key1 === "source_tokens_max")) {
validate24.errors = [{ instancePath: instancePath + "/embedding", schemaPath: "EmbeddingFacts/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key1 } }];
return false;
break;
}
}
if (_errs34 === errors) {
if (data14.dimensions !== undefined) {
let data15 = data14.dimensions;
const _errs35 = errors;
if (!(typeof data15 == "number" && (!(data15 % 1) && !isNaN(data15)) && isFinite(data15))) {
validate24.errors = [{ instancePath: instancePath + "/embedding/dimensions", schemaPath: "EmbeddingFacts/properties/dimensions/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs35) {
if (typeof data15 == "number" && isFinite(data15)) {
if (data15 > 65536 || isNaN(data15)) {
validate24.errors = [{ instancePath: instancePath + "/embedding/dimensions", schemaPath: "EmbeddingFacts/properties/dimensions/maximum", keyword: "maximum", params: { comparison: "<=", limit: 65536 } }];
return false;
} else {
if (data15 < 1 || isNaN(data15)) {
validate24.errors = [{ instancePath: instancePath + "/embedding/dimensions", schemaPath: "EmbeddingFacts/properties/dimensions/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid3 = _errs35 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data14.dimensions_min !== undefined) {
let data16 = data14.dimensions_min;
const _errs37 = errors;
if (!(typeof data16 == "number" && (!(data16 % 1) && !isNaN(data16)) && isFinite(data16))) {
validate24.errors = [{ instancePath: instancePath + "/embedding/dimensions_min", schemaPath: "EmbeddingFacts/properties/dimensions_min/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs37) {
if (typeof data16 == "number" && isFinite(data16)) {
if (data16 > 65536 || isNaN(data16)) {
validate24.errors = [{ instancePath: instancePath + "/embedding/dimensions_min", schemaPath: "EmbeddingFacts/properties/dimensions_min/maximum", keyword: "maximum", params: { comparison: "<=", limit: 65536 } }];
return false;
} else {
if (data16 < 1 || isNaN(data16)) {
validate24.errors = [{ instancePath: instancePath + "/embedding/dimensions_min", schemaPath: "EmbeddingFacts/properties/dimensions_min/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid3 = _errs37 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data14.dimensions_max !== undefined) {
let data17 = data14.dimensions_max;
const _errs39 = errors;
if (!(typeof data17 == "number" && (!(data17 % 1) && !isNaN(data17)) && isFinite(data17))) {
validate24.errors = [{ instancePath: instancePath + "/embedding/dimensions_max", schemaPath: "EmbeddingFacts/properties/dimensions_max/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs39) {
if (typeof data17 == "number" && isFinite(data17)) {
if (data17 > 65536 || isNaN(data17)) {
validate24.errors = [{ instancePath: instancePath + "/embedding/dimensions_max", schemaPath: "EmbeddingFacts/properties/dimensions_max/maximum", keyword: "maximum", params: { comparison: "<=", limit: 65536 } }];
return false;
} else {
if (data17 < 1 || isNaN(data17)) {
validate24.errors = [{ instancePath: instancePath + "/embedding/dimensions_max", schemaPath: "EmbeddingFacts/properties/dimensions_max/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid3 = _errs39 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data14.inputs_max !== undefined) {
let data18 = data14.inputs_max;
const _errs41 = errors;
if (!(typeof data18 == "number" && (!(data18 % 1) && !isNaN(data18)) && isFinite(data18))) {
validate24.errors = [{ instancePath: instancePath + "/embedding/inputs_max", schemaPath: "EmbeddingFacts/properties/inputs_max/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs41) {
if (typeof data18 == "number" && isFinite(data18)) {
if (data18 > 2048 || isNaN(data18)) {
validate24.errors = [{ instancePath: instancePath + "/embedding/inputs_max", schemaPath: "EmbeddingFacts/properties/inputs_max/maximum", keyword: "maximum", params: { comparison: "<=", limit: 2048 } }];
return false;
} else {
if (data18 < 1 || isNaN(data18)) {
validate24.errors = [{ instancePath: instancePath + "/embedding/inputs_max", schemaPath: "EmbeddingFacts/properties/inputs_max/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid3 = _errs41 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data14.vocabulary !== undefined) {
let data19 = data14.vocabulary;
const _errs43 = errors;
if (!(typeof data19 == "number" && (!(data19 % 1) && !isNaN(data19)) && isFinite(data19))) {
validate24.errors = [{ instancePath: instancePath + "/embedding/vocabulary", schemaPath: "EmbeddingFacts/properties/vocabulary/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs43) {
if (typeof data19 == "number" && isFinite(data19)) {
if (data19 > 1e7 || isNaN(data19)) {
validate24.errors = [{ instancePath: instancePath + "/embedding/vocabulary", schemaPath: "EmbeddingFacts/properties/vocabulary/maximum", keyword: "maximum", params: { comparison: "<=", limit: 1e7 } }];
return false;
} else {
if (data19 < 1 || isNaN(data19)) {
validate24.errors = [{ instancePath: instancePath + "/embedding/vocabulary", schemaPath: "EmbeddingFacts/properties/vocabulary/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid3 = _errs43 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data14.source_inputs_max !== undefined) {
let data20 = data14.source_inputs_max;
const _errs45 = errors;
if (!(typeof data20 == "number" && (!(data20 % 1) && !isNaN(data20)) && isFinite(data20))) {
validate24.errors = [{ instancePath: instancePath + "/embedding/source_inputs_max", schemaPath: "EmbeddingFacts/properties/source_inputs_max/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs45) {
if (typeof data20 == "number" && isFinite(data20)) {
if (data20 < 1 || isNaN(data20)) {
validate24.errors = [{ instancePath: instancePath + "/embedding/source_inputs_max", schemaPath: "EmbeddingFacts/properties/source_inputs_max/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
var valid3 = _errs45 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data14.source_tokens_max !== undefined) {
let data21 = data14.source_tokens_max;
const _errs47 = errors;
if (!(typeof data21 == "number" && (!(data21 % 1) && !isNaN(data21)) && isFinite(data21))) {
validate24.errors = [{ instancePath: instancePath + "/embedding/source_tokens_max", schemaPath: "EmbeddingFacts/properties/source_tokens_max/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs47) {
if (typeof data21 == "number" && isFinite(data21)) {
if (data21 < 1 || isNaN(data21)) {
validate24.errors = [{ instancePath: instancePath + "/embedding/source_tokens_max", schemaPath: "EmbeddingFacts/properties/source_tokens_max/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
var valid3 = _errs47 === errors;
} else {
var valid3 = true;
}
}
}
}
}
}
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/embedding", schemaPath: "EmbeddingFacts/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs31 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.first_byte_ms !== undefined) {
let data22 = data.first_byte_ms;
const _errs49 = errors;
if (!(typeof data22 == "number" && (!(data22 % 1) && !isNaN(data22)) && isFinite(data22))) {
validate24.errors = [{ instancePath: instancePath + "/first_byte_ms", schemaPath: "#/properties/first_byte_ms/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs49) {
if (typeof data22 == "number" && isFinite(data22)) {
if (data22 > 3600000 || isNaN(data22)) {
validate24.errors = [{ instancePath: instancePath + "/first_byte_ms", schemaPath: "#/properties/first_byte_ms/maximum", keyword: "maximum", params: { comparison: "<=", limit: 3600000 } }];
return false;
} else {
if (data22 < 100 || isNaN(data22)) {
validate24.errors = [{ instancePath: instancePath + "/first_byte_ms", schemaPath: "#/properties/first_byte_ms/minimum", keyword: "minimum", params: { comparison: ">=", limit: 100 } }];
return false;
}
}
}
}
var valid0 = _errs49 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.cache_ttl_s !== undefined) {
let data23 = data.cache_ttl_s;
const _errs51 = errors;
if (!(typeof data23 == "number" && (!(data23 % 1) && !isNaN(data23)) && isFinite(data23))) {
validate24.errors = [{ instancePath: instancePath + "/cache_ttl_s", schemaPath: "#/properties/cache_ttl_s/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs51) {
if (typeof data23 == "number" && isFinite(data23)) {
if (data23 > 86400 || isNaN(data23)) {
validate24.errors = [{ instancePath: instancePath + "/cache_ttl_s", schemaPath: "#/properties/cache_ttl_s/maximum", keyword: "maximum", params: { comparison: "<=", limit: 86400 } }];
return false;
} else {
if (data23 < 1 || isNaN(data23)) {
validate24.errors = [{ instancePath: instancePath + "/cache_ttl_s", schemaPath: "#/properties/cache_ttl_s/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid0 = _errs51 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.pricing !== undefined) {
const _errs53 = errors;
if (!validate25(data.pricing, { instancePath: instancePath + "/pricing", parentData: data, parentDataProperty: "pricing", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate25.errors : vErrors.concat(validate25.errors);
errors = vErrors.length;
}
var valid0 = _errs53 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.price_variants !== undefined) {
let data25 = data.price_variants;
const _errs54 = errors;
if (errors === _errs54) {
if (Array.isArray(data25)) {
if (data25.length < 1) {
validate24.errors = [{ instancePath: instancePath + "/price_variants", schemaPath: "#/properties/price_variants/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid4 = true;
const len0 = data25.length;
for (let i0 = 0;i0 < len0; i0++) {
let data26 = data25[i0];
const _errs56 = errors;
const _errs57 = errors;
if (errors === _errs57) {
if (data26 && typeof data26 == "object" && !Array.isArray(data26)) {
let missing1;
if (data26.when === undefined && (missing1 = "when") || data26.price === undefined && (missing1 = "price")) {
validate24.errors = [{ instancePath: instancePath + "/price_variants/" + i0, schemaPath: "PriceVariant/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
const _errs59 = errors;
for (const key2 in data26) {
if (!(key2 === "when" || key2 === "price")) {
validate24.errors = [{ instancePath: instancePath + "/price_variants/" + i0, schemaPath: "PriceVariant/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key2 } }];
return false;
break;
}
}
if (_errs59 === errors) {
if (data26.when !== undefined) {
let data27 = data26.when;
const _errs60 = errors;
if (errors === _errs60) {
if (data27 && typeof data27 == "object" && !Array.isArray(data27)) {
if (Object.keys(data27).length < 1) {
validate24.errors = [{ instancePath: instancePath + "/price_variants/" + i0 + "/when", schemaPath: "PriceVariant/properties/when/minProperties", keyword: "minProperties", params: { limit: 1 } }];
return false;
} else {
for (const key3 in data27) {
const _errs62 = errors;
if (!(key3 === "quality" || key3 === "size" || key3 === "image_size" || key3 === "resolution" || key3 === "duration" || key3 === "aspect_ratio" || key3 === "prompt_extend")) {
const err0 = { instancePath: instancePath + "/price_variants/" + i0 + "/when", schemaPath: "PriceVariant/properties/when/propertyNames/enum", keyword: "enum", params: { allowedValues: schema42.properties.when.propertyNames.enum }, propertyName: key3 };
if (vErrors === null) {
vErrors = [err0];
} else {
vErrors.push(err0);
}
errors++;
}
var valid7 = _errs62 === errors;
if (!valid7) {
const err1 = { instancePath: instancePath + "/price_variants/" + i0 + "/when", schemaPath: "PriceVariant/properties/when/propertyNames", keyword: "propertyNames", params: { propertyName: key3 } };
if (vErrors === null) {
vErrors = [err1];
} else {
vErrors.push(err1);
}
errors++;
validate24.errors = vErrors;
return false;
break;
}
}
if (valid7) {
for (const key4 in data27) {
let data28 = data27[key4];
const _errs64 = errors;
if (typeof data28 !== "string" && !(typeof data28 == "number" && (!(data28 % 1) && !isNaN(data28)) && isFinite(data28)) && typeof data28 !== "boolean") {
validate24.errors = [{ instancePath: instancePath + "/price_variants/" + i0 + "/when/" + key4.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "PriceVariant/properties/when/additionalProperties/type", keyword: "type", params: { type: schema42.properties.when.additionalProperties.type } }];
return false;
}
var valid8 = _errs64 === errors;
if (!valid8) {
break;
}
}
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/price_variants/" + i0 + "/when", schemaPath: "PriceVariant/properties/when/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid6 = _errs60 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data26.price !== undefined) {
let data29 = data26.price;
const _errs66 = errors;
if (errors === _errs66) {
if (typeof data29 === "string") {
if (func3(data29) > 40) {
validate24.errors = [{ instancePath: instancePath + "/price_variants/" + i0 + "/price", schemaPath: "PriceVariant/properties/price/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func3(data29) < 1) {
validate24.errors = [{ instancePath: instancePath + "/price_variants/" + i0 + "/price", schemaPath: "PriceVariant/properties/price/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/price_variants/" + i0 + "/price", schemaPath: "PriceVariant/properties/price/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid6 = _errs66 === errors;
} else {
var valid6 = true;
}
}
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/price_variants/" + i0, schemaPath: "PriceVariant/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid4 = _errs56 === errors;
if (!valid4) {
break;
}
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/price_variants", schemaPath: "#/properties/price_variants/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs54 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.seconds_of !== undefined) {
let data30 = data.seconds_of;
const _errs68 = errors;
if (typeof data30 !== "string") {
validate24.errors = [{ instancePath: instancePath + "/seconds_of", schemaPath: "#/properties/seconds_of/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data30 === "media" || data30 === "compute")) {
validate24.errors = [{ instancePath: instancePath + "/seconds_of", schemaPath: "#/properties/seconds_of/enum", keyword: "enum", params: { allowedValues: schema37.properties.seconds_of.enum } }];
return false;
}
var valid0 = _errs68 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.compute_seconds_max !== undefined) {
let data31 = data.compute_seconds_max;
const _errs70 = errors;
if (!(typeof data31 == "number" && (!(data31 % 1) && !isNaN(data31)) && isFinite(data31))) {
validate24.errors = [{ instancePath: instancePath + "/compute_seconds_max", schemaPath: "#/properties/compute_seconds_max/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs70) {
if (typeof data31 == "number" && isFinite(data31)) {
if (data31 > 86400 || isNaN(data31)) {
validate24.errors = [{ instancePath: instancePath + "/compute_seconds_max", schemaPath: "#/properties/compute_seconds_max/maximum", keyword: "maximum", params: { comparison: "<=", limit: 86400 } }];
return false;
} else {
if (data31 < 1 || isNaN(data31)) {
validate24.errors = [{ instancePath: instancePath + "/compute_seconds_max", schemaPath: "#/properties/compute_seconds_max/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid0 = _errs70 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.compute_seconds_usual !== undefined) {
let data32 = data.compute_seconds_usual;
const _errs72 = errors;
if (!(typeof data32 == "number" && (!(data32 % 1) && !isNaN(data32)) && isFinite(data32))) {
validate24.errors = [{ instancePath: instancePath + "/compute_seconds_usual", schemaPath: "#/properties/compute_seconds_usual/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs72) {
if (typeof data32 == "number" && isFinite(data32)) {
if (data32 > 86400 || isNaN(data32)) {
validate24.errors = [{ instancePath: instancePath + "/compute_seconds_usual", schemaPath: "#/properties/compute_seconds_usual/maximum", keyword: "maximum", params: { comparison: "<=", limit: 86400 } }];
return false;
} else {
if (data32 < 1 || isNaN(data32)) {
validate24.errors = [{ instancePath: instancePath + "/compute_seconds_usual", schemaPath: "#/properties/compute_seconds_usual/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid0 = _errs72 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.price_source !== undefined) {
let data33 = data.price_source;
const _errs74 = errors;
const _errs75 = errors;
if (errors === _errs75) {
if (data33 && typeof data33 == "object" && !Array.isArray(data33)) {
let missing2;
if (data33.source === undefined && (missing2 = "source") || data33.date === undefined && (missing2 = "date")) {
validate24.errors = [{ instancePath: instancePath + "/price_source", schemaPath: "PriceSource/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
const _errs77 = errors;
for (const key5 in data33) {
if (!(key5 === "source" || key5 === "date")) {
validate24.errors = [{ instancePath: instancePath + "/price_source", schemaPath: "PriceSource/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key5 } }];
return false;
break;
}
}
if (_errs77 === errors) {
if (data33.source !== undefined) {
let data34 = data33.source;
const _errs78 = errors;
if (errors === _errs78) {
if (typeof data34 === "string") {
if (func3(data34) > 300) {
validate24.errors = [{ instancePath: instancePath + "/price_source/source", schemaPath: "PriceSource/properties/source/maxLength", keyword: "maxLength", params: { limit: 300 } }];
return false;
} else {
if (func3(data34) < 1) {
validate24.errors = [{ instancePath: instancePath + "/price_source/source", schemaPath: "PriceSource/properties/source/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/price_source/source", schemaPath: "PriceSource/properties/source/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid10 = _errs78 === errors;
} else {
var valid10 = true;
}
if (valid10) {
if (data33.date !== undefined) {
let data35 = data33.date;
const _errs80 = errors;
if (errors === _errs80) {
if (errors === _errs80) {
if (typeof data35 === "string") {
if (!formats2.validate(data35)) {
validate24.errors = [{ instancePath: instancePath + "/price_source/date", schemaPath: "PriceSource/properties/date/format", keyword: "format", params: { format: "date" } }];
return false;
}
} else {
validate24.errors = [{ instancePath: instancePath + "/price_source/date", schemaPath: "PriceSource/properties/date/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid10 = _errs80 === errors;
} else {
var valid10 = true;
}
}
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/price_source", schemaPath: "PriceSource/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs74 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.allowed_params !== undefined) {
let data36 = data.allowed_params;
const _errs82 = errors;
const _errs83 = errors;
if (errors === _errs83) {
if (data36 && typeof data36 == "object" && !Array.isArray(data36)) {
const _errs85 = errors;
for (const key6 in data36) {
if (!func1.call(schema31.properties, key6)) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params", schemaPath: "AllowedParams/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key6 } }];
return false;
break;
}
}
if (_errs85 === errors) {
if (data36.max_n !== undefined) {
let data37 = data36.max_n;
const _errs86 = errors;
if (!(typeof data37 == "number" && (!(data37 % 1) && !isNaN(data37)) && isFinite(data37))) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/max_n", schemaPath: "AllowedParams/properties/max_n/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs86) {
if (typeof data37 == "number" && isFinite(data37)) {
if (data37 < 1 || isNaN(data37)) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/max_n", schemaPath: "AllowedParams/properties/max_n/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
var valid12 = _errs86 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.aspect_ratios !== undefined) {
let data38 = data36.aspect_ratios;
const _errs88 = errors;
if (errors === _errs88) {
if (Array.isArray(data38)) {
var valid13 = true;
const len1 = data38.length;
for (let i1 = 0;i1 < len1; i1++) {
const _errs90 = errors;
if (typeof data38[i1] !== "string") {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/aspect_ratios/" + i1, schemaPath: "AllowedParams/properties/aspect_ratios/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid13 = _errs90 === errors;
if (!valid13) {
break;
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/aspect_ratios", schemaPath: "AllowedParams/properties/aspect_ratios/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid12 = _errs88 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.image_sizes !== undefined) {
let data40 = data36.image_sizes;
const _errs92 = errors;
if (errors === _errs92) {
if (Array.isArray(data40)) {
var valid14 = true;
const len2 = data40.length;
for (let i2 = 0;i2 < len2; i2++) {
const _errs94 = errors;
if (typeof data40[i2] !== "string") {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/image_sizes/" + i2, schemaPath: "AllowedParams/properties/image_sizes/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid14 = _errs94 === errors;
if (!valid14) {
break;
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/image_sizes", schemaPath: "AllowedParams/properties/image_sizes/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid12 = _errs92 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.sizes !== undefined) {
let data42 = data36.sizes;
const _errs96 = errors;
if (errors === _errs96) {
if (Array.isArray(data42)) {
var valid15 = true;
const len3 = data42.length;
for (let i3 = 0;i3 < len3; i3++) {
const _errs98 = errors;
if (typeof data42[i3] !== "string") {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/sizes/" + i3, schemaPath: "AllowedParams/properties/sizes/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid15 = _errs98 === errors;
if (!valid15) {
break;
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/sizes", schemaPath: "AllowedParams/properties/sizes/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid12 = _errs96 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.resolutions !== undefined) {
let data44 = data36.resolutions;
const _errs100 = errors;
if (errors === _errs100) {
if (Array.isArray(data44)) {
var valid16 = true;
const len4 = data44.length;
for (let i4 = 0;i4 < len4; i4++) {
const _errs102 = errors;
if (typeof data44[i4] !== "string") {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/resolutions/" + i4, schemaPath: "AllowedParams/properties/resolutions/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid16 = _errs102 === errors;
if (!valid16) {
break;
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/resolutions", schemaPath: "AllowedParams/properties/resolutions/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid12 = _errs100 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.qualities !== undefined) {
let data46 = data36.qualities;
const _errs104 = errors;
if (errors === _errs104) {
if (Array.isArray(data46)) {
var valid17 = true;
const len5 = data46.length;
for (let i5 = 0;i5 < len5; i5++) {
const _errs106 = errors;
if (typeof data46[i5] !== "string") {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/qualities/" + i5, schemaPath: "AllowedParams/properties/qualities/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid17 = _errs106 === errors;
if (!valid17) {
break;
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/qualities", schemaPath: "AllowedParams/properties/qualities/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid12 = _errs104 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.styles !== undefined) {
let data48 = data36.styles;
const _errs108 = errors;
if (errors === _errs108) {
if (Array.isArray(data48)) {
var valid18 = true;
const len6 = data48.length;
for (let i6 = 0;i6 < len6; i6++) {
const _errs110 = errors;
if (typeof data48[i6] !== "string") {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/styles/" + i6, schemaPath: "AllowedParams/properties/styles/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid18 = _errs110 === errors;
if (!valid18) {
break;
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/styles", schemaPath: "AllowedParams/properties/styles/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid12 = _errs108 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.background !== undefined) {
let data50 = data36.background;
const _errs112 = errors;
if (errors === _errs112) {
if (Array.isArray(data50)) {
var valid19 = true;
const len7 = data50.length;
for (let i7 = 0;i7 < len7; i7++) {
const _errs114 = errors;
if (typeof data50[i7] !== "string") {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/background/" + i7, schemaPath: "AllowedParams/properties/background/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid19 = _errs114 === errors;
if (!valid19) {
break;
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/background", schemaPath: "AllowedParams/properties/background/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid12 = _errs112 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.output_formats !== undefined) {
let data52 = data36.output_formats;
const _errs116 = errors;
if (errors === _errs116) {
if (Array.isArray(data52)) {
var valid20 = true;
const len8 = data52.length;
for (let i8 = 0;i8 < len8; i8++) {
const _errs118 = errors;
if (typeof data52[i8] !== "string") {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/output_formats/" + i8, schemaPath: "AllowedParams/properties/output_formats/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid20 = _errs118 === errors;
if (!valid20) {
break;
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/output_formats", schemaPath: "AllowedParams/properties/output_formats/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid12 = _errs116 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.response_formats !== undefined) {
let data54 = data36.response_formats;
const _errs120 = errors;
if (errors === _errs120) {
if (Array.isArray(data54)) {
var valid21 = true;
const len9 = data54.length;
for (let i9 = 0;i9 < len9; i9++) {
const _errs122 = errors;
if (typeof data54[i9] !== "string") {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/response_formats/" + i9, schemaPath: "AllowedParams/properties/response_formats/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid21 = _errs122 === errors;
if (!valid21) {
break;
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/response_formats", schemaPath: "AllowedParams/properties/response_formats/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid12 = _errs120 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.person_generation !== undefined) {
let data56 = data36.person_generation;
const _errs124 = errors;
if (errors === _errs124) {
if (Array.isArray(data56)) {
var valid22 = true;
const len10 = data56.length;
for (let i10 = 0;i10 < len10; i10++) {
const _errs126 = errors;
if (typeof data56[i10] !== "string") {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/person_generation/" + i10, schemaPath: "AllowedParams/properties/person_generation/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid22 = _errs126 === errors;
if (!valid22) {
break;
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/person_generation", schemaPath: "AllowedParams/properties/person_generation/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid12 = _errs124 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.voices !== undefined) {
let data58 = data36.voices;
const _errs128 = errors;
if (errors === _errs128) {
if (Array.isArray(data58)) {
var valid23 = true;
const len11 = data58.length;
for (let i11 = 0;i11 < len11; i11++) {
const _errs130 = errors;
if (typeof data58[i11] !== "string") {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/voices/" + i11, schemaPath: "AllowedParams/properties/voices/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid23 = _errs130 === errors;
if (!valid23) {
break;
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/voices", schemaPath: "AllowedParams/properties/voices/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid12 = _errs128 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.supported_inputs !== undefined) {
let data60 = data36.supported_inputs;
const _errs132 = errors;
if (errors === _errs132) {
if (Array.isArray(data60)) {
var valid24 = true;
const len12 = data60.length;
for (let i12 = 0;i12 < len12; i12++) {
const _errs134 = errors;
if (typeof data60[i12] !== "string") {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/supported_inputs/" + i12, schemaPath: "AllowedParams/properties/supported_inputs/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid24 = _errs134 === errors;
if (!valid24) {
break;
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/supported_inputs", schemaPath: "AllowedParams/properties/supported_inputs/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid12 = _errs132 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.speed !== undefined) {
let data62 = data36.speed;
const _errs136 = errors;
if (errors === _errs136) {
if (data62 && typeof data62 == "object" && !Array.isArray(data62)) {
let missing3;
if (data62.min === undefined && (missing3 = "min") || data62.max === undefined && (missing3 = "max")) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/speed", schemaPath: "AllowedParams/properties/speed/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
const _errs138 = errors;
for (const key7 in data62) {
if (!(key7 === "min" || key7 === "max")) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/speed", schemaPath: "AllowedParams/properties/speed/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key7 } }];
return false;
break;
}
}
if (_errs138 === errors) {
if (data62.min !== undefined) {
let data63 = data62.min;
const _errs139 = errors;
if (errors === _errs139) {
if (typeof data63 == "number" && isFinite(data63)) {
if (data63 > 4 || isNaN(data63)) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/speed/min", schemaPath: "AllowedParams/properties/speed/properties/min/maximum", keyword: "maximum", params: { comparison: "<=", limit: 4 } }];
return false;
} else {
if (data63 < 0.25 || isNaN(data63)) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/speed/min", schemaPath: "AllowedParams/properties/speed/properties/min/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0.25 } }];
return false;
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/speed/min", schemaPath: "AllowedParams/properties/speed/properties/min/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid25 = _errs139 === errors;
} else {
var valid25 = true;
}
if (valid25) {
if (data62.max !== undefined) {
let data64 = data62.max;
const _errs141 = errors;
if (errors === _errs141) {
if (typeof data64 == "number" && isFinite(data64)) {
if (data64 > 4 || isNaN(data64)) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/speed/max", schemaPath: "AllowedParams/properties/speed/properties/max/maximum", keyword: "maximum", params: { comparison: "<=", limit: 4 } }];
return false;
} else {
if (data64 < 0.25 || isNaN(data64)) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/speed/max", schemaPath: "AllowedParams/properties/speed/properties/max/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0.25 } }];
return false;
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/speed/max", schemaPath: "AllowedParams/properties/speed/properties/max/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid25 = _errs141 === errors;
} else {
var valid25 = true;
}
}
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/speed", schemaPath: "AllowedParams/properties/speed/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid12 = _errs136 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.accepts_voice_instructions !== undefined) {
const _errs143 = errors;
if (typeof data36.accepts_voice_instructions !== "boolean") {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/accepts_voice_instructions", schemaPath: "AllowedParams/properties/accepts_voice_instructions/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid12 = _errs143 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.requires_voice_instructions !== undefined) {
const _errs145 = errors;
if (typeof data36.requires_voice_instructions !== "boolean") {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/requires_voice_instructions", schemaPath: "AllowedParams/properties/requires_voice_instructions/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid12 = _errs145 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.durations !== undefined) {
let data67 = data36.durations;
const _errs147 = errors;
if (errors === _errs147) {
if (Array.isArray(data67)) {
var valid26 = true;
const len13 = data67.length;
for (let i13 = 0;i13 < len13; i13++) {
let data68 = data67[i13];
const _errs149 = errors;
if (!(typeof data68 == "number" && (!(data68 % 1) && !isNaN(data68)) && isFinite(data68))) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/durations/" + i13, schemaPath: "AllowedParams/properties/durations/items/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs149) {
if (typeof data68 == "number" && isFinite(data68)) {
if (data68 < 0 || isNaN(data68)) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/durations/" + i13, schemaPath: "AllowedParams/properties/durations/items/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid26 = _errs149 === errors;
if (!valid26) {
break;
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/durations", schemaPath: "AllowedParams/properties/durations/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid12 = _errs147 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.default_duration !== undefined) {
let data69 = data36.default_duration;
const _errs151 = errors;
if (!(typeof data69 == "number" && (!(data69 % 1) && !isNaN(data69)) && isFinite(data69))) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/default_duration", schemaPath: "AllowedParams/properties/default_duration/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs151) {
if (typeof data69 == "number" && isFinite(data69)) {
if (data69 < 0 || isNaN(data69)) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/default_duration", schemaPath: "AllowedParams/properties/default_duration/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid12 = _errs151 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.max_duration_seconds !== undefined) {
let data70 = data36.max_duration_seconds;
const _errs153 = errors;
if (!(typeof data70 == "number" && (!(data70 % 1) && !isNaN(data70)) && isFinite(data70))) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/max_duration_seconds", schemaPath: "AllowedParams/properties/max_duration_seconds/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs153) {
if (typeof data70 == "number" && isFinite(data70)) {
if (data70 < 0 || isNaN(data70)) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/max_duration_seconds", schemaPath: "AllowedParams/properties/max_duration_seconds/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid12 = _errs153 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.default_params !== undefined) {
let data71 = data36.default_params;
const _errs155 = errors;
if (!(data71 && typeof data71 == "object" && !Array.isArray(data71))) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/default_params", schemaPath: "AllowedParams/properties/default_params/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid12 = _errs155 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.strength !== undefined) {
let data72 = data36.strength;
const _errs157 = errors;
if (errors === _errs157) {
if (data72 && typeof data72 == "object" && !Array.isArray(data72)) {
let missing4;
if (data72.min === undefined && (missing4 = "min") || data72.max === undefined && (missing4 = "max") || data72.required === undefined && (missing4 = "required")) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/strength", schemaPath: "AllowedParams/properties/strength/required", keyword: "required", params: { missingProperty: missing4 } }];
return false;
} else {
const _errs159 = errors;
for (const key8 in data72) {
if (!(key8 === "min" || key8 === "max" || key8 === "required")) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/strength", schemaPath: "AllowedParams/properties/strength/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key8 } }];
return false;
break;
}
}
if (_errs159 === errors) {
if (data72.min !== undefined) {
let data73 = data72.min;
const _errs160 = errors;
if (!(typeof data73 == "number" && isFinite(data73))) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/strength/min", schemaPath: "AllowedParams/properties/strength/properties/min/type", keyword: "type", params: { type: "number" } }];
return false;
}
var valid27 = _errs160 === errors;
} else {
var valid27 = true;
}
if (valid27) {
if (data72.max !== undefined) {
let data74 = data72.max;
const _errs162 = errors;
if (!(typeof data74 == "number" && isFinite(data74))) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/strength/max", schemaPath: "AllowedParams/properties/strength/properties/max/type", keyword: "type", params: { type: "number" } }];
return false;
}
var valid27 = _errs162 === errors;
} else {
var valid27 = true;
}
if (valid27) {
if (data72.required !== undefined) {
const _errs164 = errors;
if (typeof data72.required !== "boolean") {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/strength/required", schemaPath: "AllowedParams/properties/strength/properties/required/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid27 = _errs164 === errors;
} else {
var valid27 = true;
}
}
}
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/strength", schemaPath: "AllowedParams/properties/strength/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid12 = _errs157 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.requires_input_image !== undefined) {
const _errs166 = errors;
if (typeof data36.requires_input_image !== "boolean") {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/requires_input_image", schemaPath: "AllowedParams/properties/requires_input_image/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid12 = _errs166 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.requires_input_video !== undefined) {
const _errs168 = errors;
if (typeof data36.requires_input_video !== "boolean") {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/requires_input_video", schemaPath: "AllowedParams/properties/requires_input_video/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid12 = _errs168 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.requires_input_audio !== undefined) {
const _errs170 = errors;
if (typeof data36.requires_input_audio !== "boolean") {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/requires_input_audio", schemaPath: "AllowedParams/properties/requires_input_audio/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid12 = _errs170 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.requires_input_3d !== undefined) {
const _errs172 = errors;
if (typeof data36.requires_input_3d !== "boolean") {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/requires_input_3d", schemaPath: "AllowedParams/properties/requires_input_3d/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid12 = _errs172 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.accepts_input_image !== undefined) {
const _errs174 = errors;
if (typeof data36.accepts_input_image !== "boolean") {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/accepts_input_image", schemaPath: "AllowedParams/properties/accepts_input_image/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid12 = _errs174 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.accepts_input_video !== undefined) {
const _errs176 = errors;
if (typeof data36.accepts_input_video !== "boolean") {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/accepts_input_video", schemaPath: "AllowedParams/properties/accepts_input_video/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid12 = _errs176 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.max_file_size_bytes !== undefined) {
let data82 = data36.max_file_size_bytes;
const _errs178 = errors;
if (!(typeof data82 == "number" && (!(data82 % 1) && !isNaN(data82)) && isFinite(data82))) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/max_file_size_bytes", schemaPath: "AllowedParams/properties/max_file_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs178) {
if (typeof data82 == "number" && isFinite(data82)) {
if (data82 < 0 || isNaN(data82)) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/max_file_size_bytes", schemaPath: "AllowedParams/properties/max_file_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid12 = _errs178 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.max_image_size_bytes !== undefined) {
let data83 = data36.max_image_size_bytes;
const _errs180 = errors;
if (!(typeof data83 == "number" && (!(data83 % 1) && !isNaN(data83)) && isFinite(data83))) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/max_image_size_bytes", schemaPath: "AllowedParams/properties/max_image_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs180) {
if (typeof data83 == "number" && isFinite(data83)) {
if (data83 < 0 || isNaN(data83)) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/max_image_size_bytes", schemaPath: "AllowedParams/properties/max_image_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid12 = _errs180 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.max_pdf_size_bytes !== undefined) {
let data84 = data36.max_pdf_size_bytes;
const _errs182 = errors;
if (!(typeof data84 == "number" && (!(data84 % 1) && !isNaN(data84)) && isFinite(data84))) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/max_pdf_size_bytes", schemaPath: "AllowedParams/properties/max_pdf_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs182) {
if (typeof data84 == "number" && isFinite(data84)) {
if (data84 < 0 || isNaN(data84)) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/max_pdf_size_bytes", schemaPath: "AllowedParams/properties/max_pdf_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid12 = _errs182 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.max_pdf_pages !== undefined) {
let data85 = data36.max_pdf_pages;
const _errs184 = errors;
if (!(typeof data85 == "number" && (!(data85 % 1) && !isNaN(data85)) && isFinite(data85))) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/max_pdf_pages", schemaPath: "AllowedParams/properties/max_pdf_pages/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs184) {
if (typeof data85 == "number" && isFinite(data85)) {
if (data85 < 0 || isNaN(data85)) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/max_pdf_pages", schemaPath: "AllowedParams/properties/max_pdf_pages/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid12 = _errs184 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.max_audio_size_bytes !== undefined) {
let data86 = data36.max_audio_size_bytes;
const _errs186 = errors;
if (!(typeof data86 == "number" && (!(data86 % 1) && !isNaN(data86)) && isFinite(data86))) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/max_audio_size_bytes", schemaPath: "AllowedParams/properties/max_audio_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs186) {
if (typeof data86 == "number" && isFinite(data86)) {
if (data86 < 0 || isNaN(data86)) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/max_audio_size_bytes", schemaPath: "AllowedParams/properties/max_audio_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid12 = _errs186 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.max_audio_duration_seconds !== undefined) {
let data87 = data36.max_audio_duration_seconds;
const _errs188 = errors;
if (!(typeof data87 == "number" && (!(data87 % 1) && !isNaN(data87)) && isFinite(data87))) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/max_audio_duration_seconds", schemaPath: "AllowedParams/properties/max_audio_duration_seconds/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs188) {
if (typeof data87 == "number" && isFinite(data87)) {
if (data87 < 0 || isNaN(data87)) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/max_audio_duration_seconds", schemaPath: "AllowedParams/properties/max_audio_duration_seconds/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid12 = _errs188 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data36.max_files !== undefined) {
let data88 = data36.max_files;
const _errs190 = errors;
if (!(typeof data88 == "number" && (!(data88 % 1) && !isNaN(data88)) && isFinite(data88))) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/max_files", schemaPath: "AllowedParams/properties/max_files/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs190) {
if (typeof data88 == "number" && isFinite(data88)) {
if (data88 < 0 || isNaN(data88)) {
validate24.errors = [{ instancePath: instancePath + "/allowed_params/max_files", schemaPath: "AllowedParams/properties/max_files/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid12 = _errs190 === errors;
} else {
var valid12 = true;
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
validate24.errors = [{ instancePath: instancePath + "/allowed_params", schemaPath: "AllowedParams/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs82 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.sources !== undefined) {
let data89 = data.sources;
const _errs192 = errors;
if (errors === _errs192) {
if (Array.isArray(data89)) {
if (data89.length < 1) {
validate24.errors = [{ instancePath: instancePath + "/sources", schemaPath: "#/properties/sources/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid28 = true;
const len14 = data89.length;
for (let i14 = 0;i14 < len14; i14++) {
let data90 = data89[i14];
const _errs194 = errors;
const _errs195 = errors;
if (errors === _errs195) {
if (data90 && typeof data90 == "object" && !Array.isArray(data90)) {
let missing5;
if (data90.provider === undefined && (missing5 = "provider") || data90.model === undefined && (missing5 = "model")) {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14, schemaPath: "SourceEntry/required", keyword: "required", params: { missingProperty: missing5 } }];
return false;
} else {
const _errs197 = errors;
for (const key9 in data90) {
if (!func1.call(schema45.properties, key9)) {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14, schemaPath: "SourceEntry/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key9 } }];
return false;
break;
}
}
if (_errs197 === errors) {
if (data90.provider !== undefined) {
let data91 = data90.provider;
const _errs198 = errors;
if (errors === _errs198) {
if (typeof data91 === "string") {
if (func3(data91) > 64) {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/provider", schemaPath: "SourceEntry/properties/provider/maxLength", keyword: "maxLength", params: { limit: 64 } }];
return false;
} else {
if (func3(data91) < 1) {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/provider", schemaPath: "SourceEntry/properties/provider/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/provider", schemaPath: "SourceEntry/properties/provider/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid30 = _errs198 === errors;
} else {
var valid30 = true;
}
if (valid30) {
if (data90.model !== undefined) {
let data92 = data90.model;
const _errs200 = errors;
if (errors === _errs200) {
if (typeof data92 === "string") {
if (func3(data92) > 300) {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/model", schemaPath: "SourceEntry/properties/model/maxLength", keyword: "maxLength", params: { limit: 300 } }];
return false;
} else {
if (func3(data92) < 1) {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/model", schemaPath: "SourceEntry/properties/model/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/model", schemaPath: "SourceEntry/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid30 = _errs200 === errors;
} else {
var valid30 = true;
}
if (valid30) {
if (data90.drop_params !== undefined) {
let data93 = data90.drop_params;
const _errs202 = errors;
if (errors === _errs202) {
if (Array.isArray(data93)) {
var valid31 = true;
const len15 = data93.length;
for (let i15 = 0;i15 < len15; i15++) {
let data94 = data93[i15];
const _errs204 = errors;
if (errors === _errs204) {
if (typeof data94 === "string") {
if (func3(data94) < 1) {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/drop_params/" + i15, schemaPath: "SourceEntry/properties/drop_params/items/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/drop_params/" + i15, schemaPath: "SourceEntry/properties/drop_params/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid31 = _errs204 === errors;
if (!valid31) {
break;
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/drop_params", schemaPath: "SourceEntry/properties/drop_params/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid30 = _errs202 === errors;
} else {
var valid30 = true;
}
if (valid30) {
if (data90.rename_params !== undefined) {
let data95 = data90.rename_params;
const _errs206 = errors;
if (errors === _errs206) {
if (data95 && typeof data95 == "object" && !Array.isArray(data95)) {
for (const key10 in data95) {
let data96 = data95[key10];
const _errs209 = errors;
if (errors === _errs209) {
if (typeof data96 === "string") {
if (func3(data96) < 1) {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/rename_params/" + key10.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "SourceEntry/properties/rename_params/additionalProperties/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/rename_params/" + key10.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "SourceEntry/properties/rename_params/additionalProperties/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid32 = _errs209 === errors;
if (!valid32) {
break;
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/rename_params", schemaPath: "SourceEntry/properties/rename_params/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid30 = _errs206 === errors;
} else {
var valid30 = true;
}
if (valid30) {
if (data90.overrides !== undefined) {
let data97 = data90.overrides;
const _errs211 = errors;
if (!(data97 && typeof data97 == "object" && !Array.isArray(data97))) {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/overrides", schemaPath: "SourceEntry/properties/overrides/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid30 = _errs211 === errors;
} else {
var valid30 = true;
}
if (valid30) {
if (data90.fields !== undefined) {
let data98 = data90.fields;
const _errs213 = errors;
if (errors === _errs213) {
if (data98 && typeof data98 == "object" && !Array.isArray(data98)) {
for (const key11 in data98) {
const _errs215 = errors;
if (!(key11 === "n" || key11 === "size" || key11 === "quality" || key11 === "style" || key11 === "aspect_ratio" || key11 === "image_size" || key11 === "background" || key11 === "output_format" || key11 === "output_compression" || key11 === "input_fidelity" || key11 === "moderation" || key11 === "negative_prompt" || key11 === "person_generation" || key11 === "seed" || key11 === "steps" || key11 === "prompt_extend" || key11 === "user" || key11 === "strength" || key11 === "image" || key11 === "mask" || key11 === "prompt" || key11 === "video" || key11 === "mesh" || key11 === "duration" || key11 === "resolution" || key11 === "lyrics")) {
const err2 = { instancePath: instancePath + "/sources/" + i14 + "/fields", schemaPath: "SourceEntry/properties/fields/propertyNames/enum", keyword: "enum", params: { allowedValues: schema45.properties.fields.propertyNames.enum }, propertyName: key11 };
if (vErrors === null) {
vErrors = [err2];
} else {
vErrors.push(err2);
}
errors++;
}
var valid33 = _errs215 === errors;
if (!valid33) {
const err3 = { instancePath: instancePath + "/sources/" + i14 + "/fields", schemaPath: "SourceEntry/properties/fields/propertyNames", keyword: "propertyNames", params: { propertyName: key11 } };
if (vErrors === null) {
vErrors = [err3];
} else {
vErrors.push(err3);
}
errors++;
validate24.errors = vErrors;
return false;
break;
}
}
if (valid33) {
for (const key12 in data98) {
let data99 = data98[key12];
const _errs217 = errors;
if (errors === _errs217) {
if (typeof data99 === "string") {
if (func3(data99) > 100) {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/fields/" + key12.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "SourceEntry/properties/fields/additionalProperties/maxLength", keyword: "maxLength", params: { limit: 100 } }];
return false;
} else {
if (!pattern8.test(data99)) {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/fields/" + key12.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "SourceEntry/properties/fields/additionalProperties/pattern", keyword: "pattern", params: { pattern: "^[A-Za-z][A-Za-z0-9_]*([.][A-Za-z][A-Za-z0-9_]*)*(\\[\\])?(:(text|s|ms))?$" } }];
return false;
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/fields/" + key12.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "SourceEntry/properties/fields/additionalProperties/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid34 = _errs217 === errors;
if (!valid34) {
break;
}
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/fields", schemaPath: "SourceEntry/properties/fields/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid30 = _errs213 === errors;
} else {
var valid30 = true;
}
if (valid30) {
if (data90.continues_assistant !== undefined) {
const _errs219 = errors;
if (typeof data90.continues_assistant !== "boolean") {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/continues_assistant", schemaPath: "SourceEntry/properties/continues_assistant/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid30 = _errs219 === errors;
} else {
var valid30 = true;
}
if (valid30) {
if (data90.continue_overrides !== undefined) {
let data101 = data90.continue_overrides;
const _errs221 = errors;
if (!(data101 && typeof data101 == "object" && !Array.isArray(data101))) {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/continue_overrides", schemaPath: "SourceEntry/properties/continue_overrides/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid30 = _errs221 === errors;
} else {
var valid30 = true;
}
if (valid30) {
if (data90.continue_message !== undefined) {
let data102 = data90.continue_message;
const _errs223 = errors;
if (!(data102 && typeof data102 == "object" && !Array.isArray(data102))) {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/continue_message", schemaPath: "SourceEntry/properties/continue_message/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid30 = _errs223 === errors;
} else {
var valid30 = true;
}
if (valid30) {
if (data90.continue_repeats !== undefined) {
const _errs225 = errors;
if (typeof data90.continue_repeats !== "boolean") {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/continue_repeats", schemaPath: "SourceEntry/properties/continue_repeats/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid30 = _errs225 === errors;
} else {
var valid30 = true;
}
if (valid30) {
if (data90.traits !== undefined) {
let data104 = data90.traits;
const _errs227 = errors;
if (errors === _errs227) {
if (Array.isArray(data104)) {
var valid35 = true;
const len16 = data104.length;
for (let i16 = 0;i16 < len16; i16++) {
let data105 = data104[i16];
const _errs229 = errors;
if (typeof data105 !== "string") {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/traits/" + i16, schemaPath: "SourceEntry/properties/traits/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data105 === "cache_control" || data105 === "reasoning_back" || data105 === "reasoning_details_back" || data105 === "no_sampling" || data105 === "temperature_or_top_p" || data105 === "json_by_tool" || data105 === "json_by_converted_schema" || data105 === "no_json_with_tools" || data105 === "no_reasoning" || data105 === "no_xhigh_effort" || data105 === "reasoning_by_budget" || data105 === "reasoning_always")) {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/traits/" + i16, schemaPath: "SourceEntry/properties/traits/items/enum", keyword: "enum", params: { allowedValues: schema45.properties.traits.items.enum } }];
return false;
}
var valid35 = _errs229 === errors;
if (!valid35) {
break;
}
}
if (valid35) {
let i17 = data104.length;
let j0;
if (i17 > 1) {
const indices0 = {};
for (;i17--; ) {
let item0 = data104[i17];
if (typeof item0 !== "string") {
continue;
}
if (typeof indices0[item0] == "number") {
j0 = indices0[item0];
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/traits", schemaPath: "SourceEntry/properties/traits/uniqueItems", keyword: "uniqueItems", params: { i: i17, j: j0 } }];
return false;
break;
}
indices0[item0] = i17;
}
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14 + "/traits", schemaPath: "SourceEntry/properties/traits/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid30 = _errs227 === errors;
} else {
var valid30 = true;
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
validate24.errors = [{ instancePath: instancePath + "/sources/" + i14, schemaPath: "SourceEntry/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid28 = _errs194 === errors;
if (!valid28) {
break;
}
}
}
} else {
validate24.errors = [{ instancePath: instancePath + "/sources", schemaPath: "#/properties/sources/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs192 === errors;
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
} else {
validate24.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate24.errors = vErrors;
return errors === 0;
}
validate24.evaluated = { props: true, dynamicProps: false, dynamicItems: false };
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
if (!(key0 === "providers" || key0 === "presets" || key0 === "models")) {
validate23.errors = [{ instancePath, schemaPath: "#/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } }];
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
validate23.errors = [{ instancePath: instancePath + "/providers/" + i0, schemaPath: "ProviderEntry/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
const _errs7 = errors;
for (const key1 in data1) {
if (!func1.call(schema35.properties, key1)) {
validate23.errors = [{ instancePath: instancePath + "/providers/" + i0, schemaPath: "ProviderEntry/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key1 } }];
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
validate23.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/id", schemaPath: "ProviderEntry/properties/id/pattern", keyword: "pattern", params: { pattern: "^[a-z0-9][a-z0-9-]{0,63}$" } }];
return false;
}
} else {
validate23.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/id", schemaPath: "ProviderEntry/properties/id/type", keyword: "type", params: { type: "string" } }];
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
validate23.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/disabled", schemaPath: "ProviderEntry/properties/disabled/type", keyword: "type", params: { type: "boolean" } }];
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
validate23.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/family", schemaPath: "ProviderEntry/properties/family/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data4 === "sandbox" || data4 === "openai-compatible" || data4 === "anthropic" || data4 === "gemini" || data4 === "google-cloud" || data4 === "fal" || data4 === "replicate" || data4 === "elevenlabs" || data4 === "deepgram" || data4 === "meshy" || data4 === "tripo")) {
validate23.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/family", schemaPath: "ProviderEntry/properties/family/enum", keyword: "enum", params: { allowedValues: schema35.properties.family.enum } }];
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
if (func3(data5) > 2000) {
validate23.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/base_url", schemaPath: "ProviderEntry/properties/base_url/maxLength", keyword: "maxLength", params: { limit: 2000 } }];
return false;
} else {
if (func3(data5) < 1) {
validate23.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/base_url", schemaPath: "ProviderEntry/properties/base_url/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate23.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/base_url", schemaPath: "ProviderEntry/properties/base_url/type", keyword: "type", params: { type: "string" } }];
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
validate23.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/api_key_env", schemaPath: "ProviderEntry/properties/api_key_env/pattern", keyword: "pattern", params: { pattern: "^[A-Z][A-Z0-9_]*_API_KEY$" } }];
return false;
}
} else {
validate23.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/api_key_env", schemaPath: "ProviderEntry/properties/api_key_env/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid3 = _errs16 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data1.breaker !== undefined) {
let data7 = data1.breaker;
const _errs18 = errors;
if (typeof data7 !== "string") {
validate23.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/breaker", schemaPath: "ProviderEntry/properties/breaker/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data7 === "on" || data7 === "off")) {
validate23.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/breaker", schemaPath: "ProviderEntry/properties/breaker/enum", keyword: "enum", params: { allowedValues: schema35.properties.breaker.enum } }];
return false;
}
var valid3 = _errs18 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data1.on_disconnect !== undefined) {
let data8 = data1.on_disconnect;
const _errs20 = errors;
if (typeof data8 !== "string") {
validate23.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/on_disconnect", schemaPath: "ProviderEntry/properties/on_disconnect/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data8 === "abort" || data8 === "drain")) {
validate23.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/on_disconnect", schemaPath: "ProviderEntry/properties/on_disconnect/enum", keyword: "enum", params: { allowedValues: schema35.properties.on_disconnect.enum } }];
return false;
}
var valid3 = _errs20 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data1.first_byte_ms !== undefined) {
let data9 = data1.first_byte_ms;
const _errs22 = errors;
if (!(typeof data9 == "number" && (!(data9 % 1) && !isNaN(data9)) && isFinite(data9))) {
validate23.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/first_byte_ms", schemaPath: "ProviderEntry/properties/first_byte_ms/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs22) {
if (typeof data9 == "number" && isFinite(data9)) {
if (data9 > 3600000 || isNaN(data9)) {
validate23.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/first_byte_ms", schemaPath: "ProviderEntry/properties/first_byte_ms/maximum", keyword: "maximum", params: { comparison: "<=", limit: 3600000 } }];
return false;
} else {
if (data9 < 100 || isNaN(data9)) {
validate23.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/first_byte_ms", schemaPath: "ProviderEntry/properties/first_byte_ms/minimum", keyword: "minimum", params: { comparison: ">=", limit: 100 } }];
return false;
}
}
}
}
var valid3 = _errs22 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data1.media !== undefined) {
let data10 = data1.media;
const _errs24 = errors;
if (typeof data10 !== "string") {
validate23.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/media", schemaPath: "ProviderEntry/properties/media/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data10 === "inline" || data10 === "pass")) {
validate23.errors = [{ instancePath: instancePath + "/providers/" + i0 + "/media", schemaPath: "ProviderEntry/properties/media/enum", keyword: "enum", params: { allowedValues: schema35.properties.media.enum } }];
return false;
}
var valid3 = _errs24 === errors;
} else {
var valid3 = true;
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
validate23.errors = [{ instancePath: instancePath + "/providers/" + i0, schemaPath: "ProviderEntry/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid1 = _errs4 === errors;
if (!valid1) {
break;
}
}
} else {
validate23.errors = [{ instancePath: instancePath + "/providers", schemaPath: "#/properties/providers/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.presets !== undefined) {
let data11 = data.presets;
const _errs26 = errors;
if (errors === _errs26) {
if (Array.isArray(data11)) {
var valid4 = true;
const len1 = data11.length;
for (let i1 = 0;i1 < len1; i1++) {
let data12 = data11[i1];
const _errs28 = errors;
const _errs29 = errors;
if (errors === _errs29) {
if (data12 && typeof data12 == "object" && !Array.isArray(data12)) {
let missing1;
if (data12.name === undefined && (missing1 = "name")) {
validate23.errors = [{ instancePath: instancePath + "/presets/" + i1, schemaPath: "PresetEntry/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
const _errs31 = errors;
for (const key2 in data12) {
if (!(key2 === "name" || key2 === "disabled" || key2 === "requests_per_minute" || key2 === "daily_tokens")) {
validate23.errors = [{ instancePath: instancePath + "/presets/" + i1, schemaPath: "PresetEntry/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key2 } }];
return false;
break;
}
}
if (_errs31 === errors) {
if (data12.name !== undefined) {
let data13 = data12.name;
const _errs32 = errors;
if (errors === _errs32) {
if (typeof data13 === "string") {
if (!pattern6.test(data13)) {
validate23.errors = [{ instancePath: instancePath + "/presets/" + i1 + "/name", schemaPath: "PresetEntry/properties/name/pattern", keyword: "pattern", params: { pattern: "^[a-z0-9][a-z0-9_-]{0,63}$" } }];
return false;
}
} else {
validate23.errors = [{ instancePath: instancePath + "/presets/" + i1 + "/name", schemaPath: "PresetEntry/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid6 = _errs32 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data12.disabled !== undefined) {
const _errs34 = errors;
if (typeof data12.disabled !== "boolean") {
validate23.errors = [{ instancePath: instancePath + "/presets/" + i1 + "/disabled", schemaPath: "PresetEntry/properties/disabled/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid6 = _errs34 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data12.requests_per_minute !== undefined) {
let data15 = data12.requests_per_minute;
const _errs36 = errors;
if (!(typeof data15 == "number" && (!(data15 % 1) && !isNaN(data15)) && isFinite(data15)) && data15 !== null) {
validate23.errors = [{ instancePath: instancePath + "/presets/" + i1 + "/requests_per_minute", schemaPath: "PresetEntry/properties/requests_per_minute/type", keyword: "type", params: { type: schema36.properties.requests_per_minute.type } }];
return false;
}
if (errors === _errs36) {
if (typeof data15 == "number" && isFinite(data15)) {
if (data15 > 4095 || isNaN(data15)) {
validate23.errors = [{ instancePath: instancePath + "/presets/" + i1 + "/requests_per_minute", schemaPath: "PresetEntry/properties/requests_per_minute/maximum", keyword: "maximum", params: { comparison: "<=", limit: 4095 } }];
return false;
} else {
if (data15 < 1 || isNaN(data15)) {
validate23.errors = [{ instancePath: instancePath + "/presets/" + i1 + "/requests_per_minute", schemaPath: "PresetEntry/properties/requests_per_minute/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid6 = _errs36 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data12.daily_tokens !== undefined) {
let data16 = data12.daily_tokens;
const _errs38 = errors;
if (!(typeof data16 == "number" && (!(data16 % 1) && !isNaN(data16)) && isFinite(data16)) && data16 !== null) {
validate23.errors = [{ instancePath: instancePath + "/presets/" + i1 + "/daily_tokens", schemaPath: "PresetEntry/properties/daily_tokens/type", keyword: "type", params: { type: schema36.properties.daily_tokens.type } }];
return false;
}
if (errors === _errs38) {
if (typeof data16 == "number" && isFinite(data16)) {
if (data16 > 9007199254740991 || isNaN(data16)) {
validate23.errors = [{ instancePath: instancePath + "/presets/" + i1 + "/daily_tokens", schemaPath: "PresetEntry/properties/daily_tokens/maximum", keyword: "maximum", params: { comparison: "<=", limit: 9007199254740991 } }];
return false;
} else {
if (data16 < 1 || isNaN(data16)) {
validate23.errors = [{ instancePath: instancePath + "/presets/" + i1 + "/daily_tokens", schemaPath: "PresetEntry/properties/daily_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid6 = _errs38 === errors;
} else {
var valid6 = true;
}
}
}
}
}
}
} else {
validate23.errors = [{ instancePath: instancePath + "/presets/" + i1, schemaPath: "PresetEntry/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid4 = _errs28 === errors;
if (!valid4) {
break;
}
}
} else {
validate23.errors = [{ instancePath: instancePath + "/presets", schemaPath: "#/properties/presets/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs26 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.models !== undefined) {
let data17 = data.models;
const _errs40 = errors;
if (errors === _errs40) {
if (Array.isArray(data17)) {
var valid7 = true;
const len2 = data17.length;
for (let i2 = 0;i2 < len2; i2++) {
const _errs42 = errors;
if (!validate24(data17[i2], { instancePath: instancePath + "/models/" + i2, parentData: data17, parentDataProperty: i2, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate24.errors : vErrors.concat(validate24.errors);
errors = vErrors.length;
}
var valid7 = _errs42 === errors;
if (!valid7) {
break;
}
}
} else {
validate23.errors = [{ instancePath: instancePath + "/models", schemaPath: "#/properties/models/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs40 === errors;
} else {
var valid0 = true;
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
var validateChatLogprobs = validate28;
var schema46 = { type: "object", properties: { content: { type: ["array", "null"], items: { $ref: "TokenLogprob" } }, refusal: { type: ["array", "null"], items: { $ref: "TokenLogprob" } } } };
var schema47 = { type: "object", required: ["token", "logprob"], properties: { token: { type: "string" }, logprob: { type: "number" }, bytes: { type: ["array", "null"], items: { type: "integer" } }, top_logprobs: { type: "array", items: { $ref: "TokenAlternative" } } } };
var schema48 = { type: "object", required: ["token", "logprob"], properties: { token: { type: "string" }, logprob: { type: "number" }, bytes: { type: ["array", "null"], items: { type: "integer" } } } };
function validate29(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate29.evaluated;
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
validate29.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.token !== undefined) {
const _errs1 = errors;
if (typeof data.token !== "string") {
validate29.errors = [{ instancePath: instancePath + "/token", schemaPath: "#/properties/token/type", keyword: "type", params: { type: "string" } }];
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
validate29.errors = [{ instancePath: instancePath + "/logprob", schemaPath: "#/properties/logprob/type", keyword: "type", params: { type: "number" } }];
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
validate29.errors = [{ instancePath: instancePath + "/bytes", schemaPath: "#/properties/bytes/type", keyword: "type", params: { type: schema47.properties.bytes.type } }];
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
validate29.errors = [{ instancePath: instancePath + "/bytes/" + i0, schemaPath: "#/properties/bytes/items/type", keyword: "type", params: { type: "integer" } }];
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
validate29.errors = [{ instancePath: instancePath + "/top_logprobs/" + i1, schemaPath: "TokenAlternative/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data5.token !== undefined) {
const _errs14 = errors;
if (typeof data5.token !== "string") {
validate29.errors = [{ instancePath: instancePath + "/top_logprobs/" + i1 + "/token", schemaPath: "TokenAlternative/properties/token/type", keyword: "type", params: { type: "string" } }];
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
validate29.errors = [{ instancePath: instancePath + "/top_logprobs/" + i1 + "/logprob", schemaPath: "TokenAlternative/properties/logprob/type", keyword: "type", params: { type: "number" } }];
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
validate29.errors = [{ instancePath: instancePath + "/top_logprobs/" + i1 + "/bytes", schemaPath: "TokenAlternative/properties/bytes/type", keyword: "type", params: { type: schema48.properties.bytes.type } }];
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
validate29.errors = [{ instancePath: instancePath + "/top_logprobs/" + i1 + "/bytes/" + i2, schemaPath: "TokenAlternative/properties/bytes/items/type", keyword: "type", params: { type: "integer" } }];
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
validate29.errors = [{ instancePath: instancePath + "/top_logprobs/" + i1, schemaPath: "TokenAlternative/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid2 = _errs11 === errors;
if (!valid2) {
break;
}
}
} else {
validate29.errors = [{ instancePath: instancePath + "/top_logprobs", schemaPath: "#/properties/top_logprobs/type", keyword: "type", params: { type: "array" } }];
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
validate29.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate29.errors = vErrors;
return errors === 0;
}
validate29.evaluated = { props: { token: true, logprob: true, bytes: true, top_logprobs: true }, dynamicProps: false, dynamicItems: false };
function validate28(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate28.evaluated;
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
validate28.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: schema46.properties.content.type } }];
return false;
}
if (errors === _errs1) {
if (Array.isArray(data0)) {
var valid1 = true;
const len0 = data0.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs3 = errors;
if (!validate29(data0[i0], { instancePath: instancePath + "/content/" + i0, parentData: data0, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate29.errors : vErrors.concat(validate29.errors);
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
validate28.errors = [{ instancePath: instancePath + "/refusal", schemaPath: "#/properties/refusal/type", keyword: "type", params: { type: schema46.properties.refusal.type } }];
return false;
}
if (errors === _errs4) {
if (Array.isArray(data2)) {
var valid2 = true;
const len1 = data2.length;
for (let i1 = 0;i1 < len1; i1++) {
const _errs6 = errors;
if (!validate29(data2[i1], { instancePath: instancePath + "/refusal/" + i1, parentData: data2, parentDataProperty: i1, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate29.errors : vErrors.concat(validate29.errors);
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
validate28.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate28.errors = vErrors;
return errors === 0;
}
validate28.evaluated = { props: { content: true, refusal: true }, dynamicProps: false, dynamicItems: false };
var validateChatMessage = validate32;
var schema49 = { type: "object", allOf: [{ type: "object", required: ["role"], properties: { role: { type: "string", enum: ["developer", "system", "user", "assistant", "tool", "function"] } } }, { type: "object", discriminator: { propertyName: "role" }, oneOf: [{ $ref: "DeveloperMessage" }, { $ref: "SystemMessage" }, { $ref: "UserMessage" }, { $ref: "AssistantMessage" }, { $ref: "ToolMessage" }, { $ref: "FunctionMessage" }] }] };
var schema68 = { type: "object", required: ["role", "content", "name"], properties: { role: { const: "function" }, content: { type: ["string", "null"] }, name: { type: "string" } } };
var schema50 = { type: "object", required: ["role", "content"], properties: { role: { const: "developer" }, content: { type: ["string", "array"], minItems: 1, items: { $ref: "TextOnlyBlock" } }, name: { type: "string" } } };
var schema51 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["text"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "TextBlock" }] }] };
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
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate34.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate34.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate34.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "text")) {
validate34.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema51.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate34.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
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
validate34.errors = [{ instancePath, schemaPath: "TextBlock/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs11 = errors;
if (data.type !== "text") {
validate34.errors = [{ instancePath: instancePath + "/type", schemaPath: "TextBlock/properties/type/const", keyword: "const", params: { allowedValue: "text" } }];
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
validate34.errors = [{ instancePath: instancePath + "/text", schemaPath: "TextBlock/properties/text/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid5 = _errs12 === errors;
} else {
var valid5 = true;
}
}
}
} else {
validate34.errors = [{ instancePath, schemaPath: "TextBlock/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var props0 = {};
props0.type = true;
props0.text = true;
} else {
validate34.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate34.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate34.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
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
validate34.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate34.evaluated = { dynamicProps: true, dynamicItems: false };
function validate33(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate33.evaluated;
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
validate33.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.role !== undefined) {
const _errs1 = errors;
if (data.role !== "developer") {
validate33.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/properties/role/const", keyword: "const", params: { allowedValue: "developer" } }];
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
validate33.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: schema50.properties.content.type } }];
return false;
}
if (errors === _errs2) {
if (Array.isArray(data1)) {
if (data1.length < 1) {
validate33.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid1 = true;
const len0 = data1.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs4 = errors;
if (!validate34(data1[i0], { instancePath: instancePath + "/content/" + i0, parentData: data1, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate34.errors : vErrors.concat(validate34.errors);
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
validate33.errors = [{ instancePath: instancePath + "/name", schemaPath: "#/properties/name/type", keyword: "type", params: { type: "string" } }];
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
validate33.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate33.errors = vErrors;
return errors === 0;
}
validate33.evaluated = { props: { role: true, content: true, name: true }, dynamicProps: false, dynamicItems: false };
var schema53 = { type: "object", required: ["role", "content"], properties: { role: { const: "system" }, content: { type: ["string", "array"], minItems: 1, items: { $ref: "TextOnlyBlock" } }, name: { type: "string" } } };
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
if (data.role !== "system") {
validate36.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/properties/role/const", keyword: "const", params: { allowedValue: "system" } }];
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
validate36.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: schema53.properties.content.type } }];
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
if (!validate34(data1[i0], { instancePath: instancePath + "/content/" + i0, parentData: data1, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate34.errors : vErrors.concat(validate34.errors);
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
var schema54 = { type: "object", required: ["role", "content"], properties: { role: { const: "user" }, content: { type: ["string", "array"], minItems: 1, items: { $ref: "UserContentBlock" } }, name: { type: "string" } } };
var schema55 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["text", "image_url", "input_audio", "file"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "TextBlock" }, { $ref: "ImageBlock" }, { $ref: "AudioBlock" }, { $ref: "FileBlock" }] }] };
var schema57 = { type: "object", required: ["type", "image_url"], properties: { type: { const: "image_url" }, image_url: { type: "object", required: ["url"], properties: { url: { type: "string", pattern: "^([Hh][Tt][Tt][Pp][Ss]?://|[Dd][Aa][Tt][Aa]:)" }, detail: { enum: ["auto", "low", "high"] } } } } };
var schema58 = { type: "object", required: ["type", "input_audio"], properties: { type: { const: "input_audio" }, input_audio: { type: "object", required: ["data", "format"], properties: { data: { type: "string", minLength: 1 }, format: { enum: ["wav", "mp3"] } } } } };
var pattern9 = new RegExp("^([Hh][Tt][Tt][Pp][Ss]?://|[Dd][Aa][Tt][Aa]:)", "u");
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
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate39.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate39.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate39.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "text" || data0 === "image_url" || data0 === "input_audio" || data0 === "file")) {
validate39.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema55.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate39.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
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
validate39.errors = [{ instancePath, schemaPath: "TextBlock/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs11 = errors;
if (data.type !== "text") {
validate39.errors = [{ instancePath: instancePath + "/type", schemaPath: "TextBlock/properties/type/const", keyword: "const", params: { allowedValue: "text" } }];
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
validate39.errors = [{ instancePath: instancePath + "/text", schemaPath: "TextBlock/properties/text/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid5 = _errs12 === errors;
} else {
var valid5 = true;
}
}
}
} else {
validate39.errors = [{ instancePath, schemaPath: "TextBlock/type", keyword: "type", params: { type: "object" } }];
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
validate39.errors = [{ instancePath, schemaPath: "ImageBlock/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs17 = errors;
if (data.type !== "image_url") {
validate39.errors = [{ instancePath: instancePath + "/type", schemaPath: "ImageBlock/properties/type/const", keyword: "const", params: { allowedValue: "image_url" } }];
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
validate39.errors = [{ instancePath: instancePath + "/image_url", schemaPath: "ImageBlock/properties/image_url/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data4.url !== undefined) {
let data5 = data4.url;
const _errs20 = errors;
if (errors === _errs20) {
if (typeof data5 === "string") {
if (!pattern9.test(data5)) {
validate39.errors = [{ instancePath: instancePath + "/image_url/url", schemaPath: "ImageBlock/properties/image_url/properties/url/pattern", keyword: "pattern", params: { pattern: "^([Hh][Tt][Tt][Pp][Ss]?://|[Dd][Aa][Tt][Aa]:)" } }];
return false;
}
} else {
validate39.errors = [{ instancePath: instancePath + "/image_url/url", schemaPath: "ImageBlock/properties/image_url/properties/url/type", keyword: "type", params: { type: "string" } }];
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
validate39.errors = [{ instancePath: instancePath + "/image_url/detail", schemaPath: "ImageBlock/properties/image_url/properties/detail/enum", keyword: "enum", params: { allowedValues: schema57.properties.image_url.properties.detail.enum } }];
return false;
}
var valid9 = _errs22 === errors;
} else {
var valid9 = true;
}
}
}
} else {
validate39.errors = [{ instancePath: instancePath + "/image_url", schemaPath: "ImageBlock/properties/image_url/type", keyword: "type", params: { type: "object" } }];
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
validate39.errors = [{ instancePath, schemaPath: "ImageBlock/type", keyword: "type", params: { type: "object" } }];
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
validate39.errors = [{ instancePath, schemaPath: "AudioBlock/required", keyword: "required", params: { missingProperty: missing4 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs26 = errors;
if (data.type !== "input_audio") {
validate39.errors = [{ instancePath: instancePath + "/type", schemaPath: "AudioBlock/properties/type/const", keyword: "const", params: { allowedValue: "input_audio" } }];
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
validate39.errors = [{ instancePath: instancePath + "/input_audio", schemaPath: "AudioBlock/properties/input_audio/required", keyword: "required", params: { missingProperty: missing5 } }];
return false;
} else {
if (data8.data !== undefined) {
let data9 = data8.data;
const _errs29 = errors;
if (errors === _errs29) {
if (typeof data9 === "string") {
if (func3(data9) < 1) {
validate39.errors = [{ instancePath: instancePath + "/input_audio/data", schemaPath: "AudioBlock/properties/input_audio/properties/data/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate39.errors = [{ instancePath: instancePath + "/input_audio/data", schemaPath: "AudioBlock/properties/input_audio/properties/data/type", keyword: "type", params: { type: "string" } }];
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
validate39.errors = [{ instancePath: instancePath + "/input_audio/format", schemaPath: "AudioBlock/properties/input_audio/properties/format/enum", keyword: "enum", params: { allowedValues: schema58.properties.input_audio.properties.format.enum } }];
return false;
}
var valid13 = _errs31 === errors;
} else {
var valid13 = true;
}
}
}
} else {
validate39.errors = [{ instancePath: instancePath + "/input_audio", schemaPath: "AudioBlock/properties/input_audio/type", keyword: "type", params: { type: "object" } }];
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
validate39.errors = [{ instancePath, schemaPath: "AudioBlock/type", keyword: "type", params: { type: "object" } }];
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
validate39.errors = [{ instancePath, schemaPath: "FileBlock/required", keyword: "required", params: { missingProperty: missing6 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs35 = errors;
if (data.type !== "file") {
validate39.errors = [{ instancePath: instancePath + "/type", schemaPath: "FileBlock/properties/type/const", keyword: "const", params: { allowedValue: "file" } }];
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
validate39.errors = vErrors;
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
if (func3(data13) < 1) {
validate39.errors = [{ instancePath: instancePath + "/file/file_id", schemaPath: "FileBlock/properties/file/properties/file_id/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate39.errors = [{ instancePath: instancePath + "/file/file_id", schemaPath: "FileBlock/properties/file/properties/file_id/type", keyword: "type", params: { type: "string" } }];
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
if (func3(data14) < 1) {
validate39.errors = [{ instancePath: instancePath + "/file/file_data", schemaPath: "FileBlock/properties/file/properties/file_data/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate39.errors = [{ instancePath: instancePath + "/file/file_data", schemaPath: "FileBlock/properties/file/properties/file_data/type", keyword: "type", params: { type: "string" } }];
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
if (func3(data15) < 1) {
validate39.errors = [{ instancePath: instancePath + "/file/file_url", schemaPath: "FileBlock/properties/file/properties/file_url/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate39.errors = [{ instancePath: instancePath + "/file/file_url", schemaPath: "FileBlock/properties/file/properties/file_url/type", keyword: "type", params: { type: "string" } }];
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
validate39.errors = [{ instancePath: instancePath + "/file/filename", schemaPath: "FileBlock/properties/file/properties/filename/type", keyword: "type", params: { type: "string" } }];
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
validate39.errors = [{ instancePath: instancePath + "/file", schemaPath: "FileBlock/properties/file/type", keyword: "type", params: { type: "object" } }];
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
validate39.errors = [{ instancePath, schemaPath: "FileBlock/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.file = true;
}
} else {
validate39.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate39.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate39.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
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
validate39.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate39.evaluated = { dynamicProps: true, dynamicItems: false };
function validate38(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate38.evaluated;
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
validate38.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.role !== undefined) {
const _errs1 = errors;
if (data.role !== "user") {
validate38.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/properties/role/const", keyword: "const", params: { allowedValue: "user" } }];
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
validate38.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: schema54.properties.content.type } }];
return false;
}
if (errors === _errs2) {
if (Array.isArray(data1)) {
if (data1.length < 1) {
validate38.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid1 = true;
const len0 = data1.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs4 = errors;
if (!validate39(data1[i0], { instancePath: instancePath + "/content/" + i0, parentData: data1, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate39.errors : vErrors.concat(validate39.errors);
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
validate38.errors = [{ instancePath: instancePath + "/name", schemaPath: "#/properties/name/type", keyword: "type", params: { type: "string" } }];
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
validate38.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate38.errors = vErrors;
return errors === 0;
}
validate38.evaluated = { props: { role: true, content: true, name: true }, dynamicProps: false, dynamicItems: false };
var schema60 = { type: "object", required: ["role"], properties: { role: { const: "assistant" }, content: { type: ["string", "array", "null"], minItems: 1, items: { $ref: "AssistantContentBlock" } }, refusal: { type: ["string", "null"] }, name: { type: "string" }, audio: { type: ["object", "null"], required: ["id"], properties: { id: { type: "string" } } }, reasoning_content: { type: ["string", "null"] }, thinking_blocks: { type: ["array", "null"], items: { type: "object" } }, tool_calls: { type: "array", items: { $ref: "ToolCall" } }, function_call: { type: ["object", "null"], required: ["name", "arguments"], properties: { name: { type: "string" }, arguments: { type: "string" } } } }, if: { anyOf: [{ required: ["content"], properties: { content: { type: ["string", "array"] } } }, { required: ["tool_calls"], properties: { tool_calls: { type: "array", minItems: 1 } } }, { required: ["function_call"], properties: { function_call: { type: "object" } } }, { required: ["refusal"], properties: { refusal: { type: "string" } } }, { required: ["audio"], properties: { audio: { type: "object" } } }] }, else: { required: ["content"], properties: { content: { type: ["string", "array"] } } } };
var schema61 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["text", "refusal"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "TextBlock" }, { $ref: "RefusalBlock" }] }] };
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
if (!(data0 === "text" || data0 === "refusal")) {
validate42.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema61.allOf[0].properties.type.enum } }];
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
if (tag0 === "text") {
const _errs9 = errors;
if (errors === _errs9) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing1;
if (data.type === undefined && (missing1 = "type") || data.text === undefined && (missing1 = "text")) {
validate42.errors = [{ instancePath, schemaPath: "TextBlock/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs11 = errors;
if (data.type !== "text") {
validate42.errors = [{ instancePath: instancePath + "/type", schemaPath: "TextBlock/properties/type/const", keyword: "const", params: { allowedValue: "text" } }];
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
validate42.errors = [{ instancePath: instancePath + "/text", schemaPath: "TextBlock/properties/text/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid5 = _errs12 === errors;
} else {
var valid5 = true;
}
}
}
} else {
validate42.errors = [{ instancePath, schemaPath: "TextBlock/type", keyword: "type", params: { type: "object" } }];
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
validate42.errors = [{ instancePath, schemaPath: "RefusalBlock/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs17 = errors;
if (data.type !== "refusal") {
validate42.errors = [{ instancePath: instancePath + "/type", schemaPath: "RefusalBlock/properties/type/const", keyword: "const", params: { allowedValue: "refusal" } }];
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
validate42.errors = [{ instancePath: instancePath + "/refusal", schemaPath: "RefusalBlock/properties/refusal/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid8 = _errs18 === errors;
} else {
var valid8 = true;
}
}
}
} else {
validate42.errors = [{ instancePath, schemaPath: "RefusalBlock/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.refusal = true;
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
var schema64 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["function", "custom"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "FunctionToolCall" }, { $ref: "CustomToolCall" }] }] };
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
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate44.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate44.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate44.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "function" || data0 === "custom")) {
validate44.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema64.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate44.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
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
validate44.errors = [{ instancePath, schemaPath: "FunctionToolCall/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data.id !== undefined) {
const _errs11 = errors;
if (typeof data.id !== "string") {
validate44.errors = [{ instancePath: instancePath + "/id", schemaPath: "FunctionToolCall/properties/id/type", keyword: "type", params: { type: "string" } }];
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
validate44.errors = [{ instancePath: instancePath + "/type", schemaPath: "FunctionToolCall/properties/type/const", keyword: "const", params: { allowedValue: "function" } }];
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
validate44.errors = [{ instancePath: instancePath + "/function", schemaPath: "FunctionToolCall/properties/function/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data3.name !== undefined) {
const _errs16 = errors;
if (typeof data3.name !== "string") {
validate44.errors = [{ instancePath: instancePath + "/function/name", schemaPath: "FunctionToolCall/properties/function/properties/name/type", keyword: "type", params: { type: "string" } }];
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
validate44.errors = [{ instancePath: instancePath + "/function/arguments", schemaPath: "FunctionToolCall/properties/function/properties/arguments/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid6 = _errs18 === errors;
} else {
var valid6 = true;
}
}
}
} else {
validate44.errors = [{ instancePath: instancePath + "/function", schemaPath: "FunctionToolCall/properties/function/type", keyword: "type", params: { type: "object" } }];
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
validate44.errors = [{ instancePath, schemaPath: "FunctionToolCall/type", keyword: "type", params: { type: "object" } }];
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
validate44.errors = [{ instancePath, schemaPath: "CustomToolCall/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data.id !== undefined) {
const _errs23 = errors;
if (typeof data.id !== "string") {
validate44.errors = [{ instancePath: instancePath + "/id", schemaPath: "CustomToolCall/properties/id/type", keyword: "type", params: { type: "string" } }];
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
validate44.errors = [{ instancePath: instancePath + "/type", schemaPath: "CustomToolCall/properties/type/const", keyword: "const", params: { allowedValue: "custom" } }];
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
validate44.errors = [{ instancePath: instancePath + "/custom", schemaPath: "CustomToolCall/properties/custom/required", keyword: "required", params: { missingProperty: missing4 } }];
return false;
} else {
if (data8.name !== undefined) {
const _errs28 = errors;
if (typeof data8.name !== "string") {
validate44.errors = [{ instancePath: instancePath + "/custom/name", schemaPath: "CustomToolCall/properties/custom/properties/name/type", keyword: "type", params: { type: "string" } }];
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
validate44.errors = [{ instancePath: instancePath + "/custom/input", schemaPath: "CustomToolCall/properties/custom/properties/input/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid10 = _errs30 === errors;
} else {
var valid10 = true;
}
}
}
} else {
validate44.errors = [{ instancePath: instancePath + "/custom", schemaPath: "CustomToolCall/properties/custom/type", keyword: "type", params: { type: "object" } }];
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
validate44.errors = [{ instancePath, schemaPath: "CustomToolCall/type", keyword: "type", params: { type: "object" } }];
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
validate44.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate44.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate44.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
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
validate44.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate44.evaluated = { dynamicProps: true, dynamicItems: false };
function validate41(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate41.evaluated;
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
validate41.errors = [{ instancePath, schemaPath: "#/else/required", keyword: "required", params: { missingProperty: missing5 } }];
return false;
} else {
if (data.content !== undefined) {
let data5 = data.content;
if (typeof data5 !== "string" && !Array.isArray(data5)) {
validate41.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/else/properties/content/type", keyword: "type", params: { type: schema60.else.properties.content.type } }];
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
validate41.errors = vErrors;
return false;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing6;
if (data.role === undefined && (missing6 = "role")) {
validate41.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing6 } }];
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
props0.thinking_blocks = true;
props0.tool_calls = true;
props0.function_call = true;
}
if (data.role !== undefined) {
const _errs22 = errors;
if (data.role !== "assistant") {
validate41.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/properties/role/const", keyword: "const", params: { allowedValue: "assistant" } }];
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
validate41.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: schema60.properties.content.type } }];
return false;
}
if (errors === _errs23) {
if (Array.isArray(data7)) {
if (data7.length < 1) {
validate41.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid9 = true;
const len0 = data7.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs25 = errors;
if (!validate42(data7[i0], { instancePath: instancePath + "/content/" + i0, parentData: data7, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate42.errors : vErrors.concat(validate42.errors);
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
validate41.errors = [{ instancePath: instancePath + "/refusal", schemaPath: "#/properties/refusal/type", keyword: "type", params: { type: schema60.properties.refusal.type } }];
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
validate41.errors = [{ instancePath: instancePath + "/name", schemaPath: "#/properties/name/type", keyword: "type", params: { type: "string" } }];
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
validate41.errors = [{ instancePath: instancePath + "/audio", schemaPath: "#/properties/audio/type", keyword: "type", params: { type: schema60.properties.audio.type } }];
return false;
}
if (errors === _errs30) {
if (data11 && typeof data11 == "object" && !Array.isArray(data11)) {
let missing7;
if (data11.id === undefined && (missing7 = "id")) {
validate41.errors = [{ instancePath: instancePath + "/audio", schemaPath: "#/properties/audio/required", keyword: "required", params: { missingProperty: missing7 } }];
return false;
} else {
if (data11.id !== undefined) {
if (typeof data11.id !== "string") {
validate41.errors = [{ instancePath: instancePath + "/audio/id", schemaPath: "#/properties/audio/properties/id/type", keyword: "type", params: { type: "string" } }];
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
validate41.errors = [{ instancePath: instancePath + "/reasoning_content", schemaPath: "#/properties/reasoning_content/type", keyword: "type", params: { type: schema60.properties.reasoning_content.type } }];
return false;
}
var valid8 = _errs34 === errors;
} else {
var valid8 = true;
}
if (valid8) {
if (data.thinking_blocks !== undefined) {
let data14 = data.thinking_blocks;
const _errs36 = errors;
if (!Array.isArray(data14) && data14 !== null) {
validate41.errors = [{ instancePath: instancePath + "/thinking_blocks", schemaPath: "#/properties/thinking_blocks/type", keyword: "type", params: { type: schema60.properties.thinking_blocks.type } }];
return false;
}
if (errors === _errs36) {
if (Array.isArray(data14)) {
var valid11 = true;
const len1 = data14.length;
for (let i1 = 0;i1 < len1; i1++) {
let data15 = data14[i1];
const _errs38 = errors;
if (!(data15 && typeof data15 == "object" && !Array.isArray(data15))) {
validate41.errors = [{ instancePath: instancePath + "/thinking_blocks/" + i1, schemaPath: "#/properties/thinking_blocks/items/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid11 = _errs38 === errors;
if (!valid11) {
break;
}
}
}
}
var valid8 = _errs36 === errors;
} else {
var valid8 = true;
}
if (valid8) {
if (data.tool_calls !== undefined) {
let data16 = data.tool_calls;
const _errs40 = errors;
if (errors === _errs40) {
if (Array.isArray(data16)) {
var valid12 = true;
const len2 = data16.length;
for (let i2 = 0;i2 < len2; i2++) {
const _errs42 = errors;
if (!validate44(data16[i2], { instancePath: instancePath + "/tool_calls/" + i2, parentData: data16, parentDataProperty: i2, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate44.errors : vErrors.concat(validate44.errors);
errors = vErrors.length;
}
var valid12 = _errs42 === errors;
if (!valid12) {
break;
}
}
} else {
validate41.errors = [{ instancePath: instancePath + "/tool_calls", schemaPath: "#/properties/tool_calls/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid8 = _errs40 === errors;
} else {
var valid8 = true;
}
if (valid8) {
if (data.function_call !== undefined) {
let data18 = data.function_call;
const _errs43 = errors;
if (!(data18 && typeof data18 == "object" && !Array.isArray(data18)) && data18 !== null) {
validate41.errors = [{ instancePath: instancePath + "/function_call", schemaPath: "#/properties/function_call/type", keyword: "type", params: { type: schema60.properties.function_call.type } }];
return false;
}
if (errors === _errs43) {
if (data18 && typeof data18 == "object" && !Array.isArray(data18)) {
let missing8;
if (data18.name === undefined && (missing8 = "name") || data18.arguments === undefined && (missing8 = "arguments")) {
validate41.errors = [{ instancePath: instancePath + "/function_call", schemaPath: "#/properties/function_call/required", keyword: "required", params: { missingProperty: missing8 } }];
return false;
} else {
if (data18.name !== undefined) {
const _errs45 = errors;
if (typeof data18.name !== "string") {
validate41.errors = [{ instancePath: instancePath + "/function_call/name", schemaPath: "#/properties/function_call/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid13 = _errs45 === errors;
} else {
var valid13 = true;
}
if (valid13) {
if (data18.arguments !== undefined) {
const _errs47 = errors;
if (typeof data18.arguments !== "string") {
validate41.errors = [{ instancePath: instancePath + "/function_call/arguments", schemaPath: "#/properties/function_call/properties/arguments/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid13 = _errs47 === errors;
} else {
var valid13 = true;
}
}
}
}
}
var valid8 = _errs43 === errors;
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
}
} else {
validate41.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate41.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate41.evaluated = { dynamicProps: true, dynamicItems: false };
var schema67 = { type: "object", required: ["role", "content", "tool_call_id"], properties: { role: { const: "tool" }, content: { type: ["string", "array"], minItems: 1, items: { $ref: "TextOnlyBlock" } }, tool_call_id: { type: "string" } } };
function validate46(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate46.evaluated;
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
validate46.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.role !== undefined) {
const _errs1 = errors;
if (data.role !== "tool") {
validate46.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/properties/role/const", keyword: "const", params: { allowedValue: "tool" } }];
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
validate46.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: schema67.properties.content.type } }];
return false;
}
if (errors === _errs2) {
if (Array.isArray(data1)) {
if (data1.length < 1) {
validate46.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid1 = true;
const len0 = data1.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs4 = errors;
if (!validate34(data1[i0], { instancePath: instancePath + "/content/" + i0, parentData: data1, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate34.errors : vErrors.concat(validate34.errors);
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
validate46.errors = [{ instancePath: instancePath + "/tool_call_id", schemaPath: "#/properties/tool_call_id/type", keyword: "type", params: { type: "string" } }];
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
validate46.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate46.errors = vErrors;
return errors === 0;
}
validate46.evaluated = { props: { role: true, content: true, tool_call_id: true }, dynamicProps: false, dynamicItems: false };
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
if (data.role === undefined && (missing0 = "role")) {
validate32.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.role !== undefined) {
let data0 = data.role;
if (typeof data0 !== "string") {
validate32.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/allOf/0/properties/role/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "developer" || data0 === "system" || data0 === "user" || data0 === "assistant" || data0 === "tool" || data0 === "function")) {
validate32.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/allOf/0/properties/role/enum", keyword: "enum", params: { allowedValues: schema49.allOf[0].properties.role.enum } }];
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
const tag0 = data.role;
if (typeof tag0 == "string") {
if (tag0 === "developer") {
if (!validate33(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate33.errors : vErrors.concat(validate33.errors);
errors = vErrors.length;
}
var props0 = {};
props0.role = true;
props0.content = true;
props0.name = true;
} else if (tag0 === "system") {
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
} else if (tag0 === "user") {
if (!validate38(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate38.errors : vErrors.concat(validate38.errors);
errors = vErrors.length;
}
if (props0 !== true) {
props0 = props0 || {};
props0.role = true;
props0.content = true;
props0.name = true;
}
} else if (tag0 === "assistant") {
if (!validate41(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate41.errors : vErrors.concat(validate41.errors);
errors = vErrors.length;
} else {
var props1 = validate41.evaluated.props;
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
if (!validate46(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate46.errors : vErrors.concat(validate46.errors);
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
validate32.errors = [{ instancePath, schemaPath: "FunctionMessage/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data.role !== undefined) {
const _errs16 = errors;
if (data.role !== "function") {
validate32.errors = [{ instancePath: instancePath + "/role", schemaPath: "FunctionMessage/properties/role/const", keyword: "const", params: { allowedValue: "function" } }];
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
validate32.errors = [{ instancePath: instancePath + "/content", schemaPath: "FunctionMessage/properties/content/type", keyword: "type", params: { type: schema68.properties.content.type } }];
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
validate32.errors = [{ instancePath: instancePath + "/name", schemaPath: "FunctionMessage/properties/name/type", keyword: "type", params: { type: "string" } }];
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
validate32.errors = [{ instancePath, schemaPath: "FunctionMessage/type", keyword: "type", params: { type: "object" } }];
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
validate32.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "role", tagValue: tag0 } }];
return false;
}
} else {
validate32.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "role", tagValue: tag0 } }];
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
props0.role = true;
}
}
}
validate32.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate32.evaluated = { dynamicProps: true, dynamicItems: false };
var validateChatTool = validate53;
var schema69 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["function", "custom"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "FunctionTool" }, { $ref: "CustomTool" }] }] };
var schema71 = { type: "object", required: ["name"], properties: { name: { type: "string", pattern: "^[a-zA-Z0-9_-]{1,64}$" }, description: { type: "string" }, parameters: { type: "object" }, strict: { type: ["boolean", "null"] } } };
var pattern10 = new RegExp("^[a-zA-Z0-9_-]{1,64}$", "u");
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
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type") || data.function === undefined && (missing0 = "function")) {
validate54.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs1 = errors;
if (data.type !== "function") {
validate54.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/properties/type/const", keyword: "const", params: { allowedValue: "function" } }];
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
validate54.errors = [{ instancePath: instancePath + "/function", schemaPath: "FunctionDefinition/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data1.name !== undefined) {
let data2 = data1.name;
const _errs5 = errors;
if (errors === _errs5) {
if (typeof data2 === "string") {
if (!pattern10.test(data2)) {
validate54.errors = [{ instancePath: instancePath + "/function/name", schemaPath: "FunctionDefinition/properties/name/pattern", keyword: "pattern", params: { pattern: "^[a-zA-Z0-9_-]{1,64}$" } }];
return false;
}
} else {
validate54.errors = [{ instancePath: instancePath + "/function/name", schemaPath: "FunctionDefinition/properties/name/type", keyword: "type", params: { type: "string" } }];
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
validate54.errors = [{ instancePath: instancePath + "/function/description", schemaPath: "FunctionDefinition/properties/description/type", keyword: "type", params: { type: "string" } }];
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
validate54.errors = [{ instancePath: instancePath + "/function/parameters", schemaPath: "FunctionDefinition/properties/parameters/type", keyword: "type", params: { type: "object" } }];
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
validate54.errors = [{ instancePath: instancePath + "/function/strict", schemaPath: "FunctionDefinition/properties/strict/type", keyword: "type", params: { type: schema71.properties.strict.type } }];
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
validate54.errors = [{ instancePath: instancePath + "/function", schemaPath: "FunctionDefinition/type", keyword: "type", params: { type: "object" } }];
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
validate54.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate54.errors = vErrors;
return errors === 0;
}
validate54.evaluated = { props: { type: true, function: true }, dynamicProps: false, dynamicItems: false };
var schema73 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["text", "grammar"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "TextToolFormat" }, { $ref: "GrammarToolFormat" }] }] };
var schema75 = { type: "object", required: ["type", "grammar"], properties: { type: { const: "grammar" }, grammar: { type: "object", required: ["definition", "syntax"], properties: { definition: { type: "string" }, syntax: { enum: ["lark", "regex"] } } } } };
function validate56(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate56.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate56.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate56.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate56.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "text" || data0 === "grammar")) {
validate56.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema73.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate56.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
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
validate56.errors = [{ instancePath, schemaPath: "TextToolFormat/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data.type !== undefined) {
if (data.type !== "text") {
validate56.errors = [{ instancePath: instancePath + "/type", schemaPath: "TextToolFormat/properties/type/const", keyword: "const", params: { allowedValue: "text" } }];
return false;
}
}
}
} else {
validate56.errors = [{ instancePath, schemaPath: "TextToolFormat/type", keyword: "type", params: { type: "object" } }];
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
validate56.errors = [{ instancePath, schemaPath: "GrammarToolFormat/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs15 = errors;
if (data.type !== "grammar") {
validate56.errors = [{ instancePath: instancePath + "/type", schemaPath: "GrammarToolFormat/properties/type/const", keyword: "const", params: { allowedValue: "grammar" } }];
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
validate56.errors = [{ instancePath: instancePath + "/grammar", schemaPath: "GrammarToolFormat/properties/grammar/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data3.definition !== undefined) {
const _errs18 = errors;
if (typeof data3.definition !== "string") {
validate56.errors = [{ instancePath: instancePath + "/grammar/definition", schemaPath: "GrammarToolFormat/properties/grammar/properties/definition/type", keyword: "type", params: { type: "string" } }];
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
validate56.errors = [{ instancePath: instancePath + "/grammar/syntax", schemaPath: "GrammarToolFormat/properties/grammar/properties/syntax/enum", keyword: "enum", params: { allowedValues: schema75.properties.grammar.properties.syntax.enum } }];
return false;
}
var valid9 = _errs20 === errors;
} else {
var valid9 = true;
}
}
}
} else {
validate56.errors = [{ instancePath: instancePath + "/grammar", schemaPath: "GrammarToolFormat/properties/grammar/type", keyword: "type", params: { type: "object" } }];
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
validate56.errors = [{ instancePath, schemaPath: "GrammarToolFormat/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.grammar = true;
}
} else {
validate56.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate56.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate56.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
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
validate56.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate56.evaluated = { dynamicProps: true, dynamicItems: false };
function validate55(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate55.evaluated;
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
validate55.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs1 = errors;
if (data.type !== "custom") {
validate55.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/properties/type/const", keyword: "const", params: { allowedValue: "custom" } }];
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
validate55.errors = [{ instancePath: instancePath + "/custom", schemaPath: "#/properties/custom/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data1.name !== undefined) {
let data2 = data1.name;
const _errs4 = errors;
if (errors === _errs4) {
if (typeof data2 === "string") {
if (func3(data2) < 1) {
validate55.errors = [{ instancePath: instancePath + "/custom/name", schemaPath: "#/properties/custom/properties/name/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate55.errors = [{ instancePath: instancePath + "/custom/name", schemaPath: "#/properties/custom/properties/name/type", keyword: "type", params: { type: "string" } }];
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
validate55.errors = [{ instancePath: instancePath + "/custom/description", schemaPath: "#/properties/custom/properties/description/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid1 = _errs6 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data1.format !== undefined) {
const _errs8 = errors;
if (!validate56(data1.format, { instancePath: instancePath + "/custom/format", parentData: data1, parentDataProperty: "format", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate56.errors : vErrors.concat(validate56.errors);
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
validate55.errors = [{ instancePath: instancePath + "/custom", schemaPath: "#/properties/custom/type", keyword: "type", params: { type: "object" } }];
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
validate55.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate55.errors = vErrors;
return errors === 0;
}
validate55.evaluated = { props: { type: true, custom: true }, dynamicProps: false, dynamicItems: false };
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
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate53.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate53.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate53.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "function" || data0 === "custom")) {
validate53.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema69.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate53.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
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
if (!validate54(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate54.errors : vErrors.concat(validate54.errors);
errors = vErrors.length;
}
var props0 = {};
props0.type = true;
props0.function = true;
} else if (tag0 === "custom") {
if (!validate55(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate55.errors : vErrors.concat(validate55.errors);
errors = vErrors.length;
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.custom = true;
}
} else {
validate53.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate53.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate53.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
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
validate53.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate53.evaluated = { dynamicProps: true, dynamicItems: false };
var validateDurableMessage = validate60;
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
if (data.durable === undefined && (missing0 = "durable") || data.job_id === undefined && (missing0 = "job_id") || data.attempt === undefined && (missing0 = "attempt") || data.dispatch === undefined && (missing0 = "dispatch") || data.workspace_id === undefined && (missing0 = "workspace_id")) {
validate60.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.durable !== undefined) {
const _errs1 = errors;
if (data.durable !== true) {
validate60.errors = [{ instancePath: instancePath + "/durable", schemaPath: "#/properties/durable/const", keyword: "const", params: { allowedValue: true } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.job_id !== undefined) {
let data1 = data.job_id;
const _errs2 = errors;
if (errors === _errs2) {
if (errors === _errs2) {
if (typeof data1 === "string") {
if (!formats0.test(data1)) {
validate60.errors = [{ instancePath: instancePath + "/job_id", schemaPath: "#/properties/job_id/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate60.errors = [{ instancePath: instancePath + "/job_id", schemaPath: "#/properties/job_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.attempt !== undefined) {
let data2 = data.attempt;
const _errs4 = errors;
if (!(typeof data2 == "number" && (!(data2 % 1) && !isNaN(data2)) && isFinite(data2))) {
validate60.errors = [{ instancePath: instancePath + "/attempt", schemaPath: "#/properties/attempt/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs4) {
if (typeof data2 == "number" && isFinite(data2)) {
if (data2 > 32767 || isNaN(data2)) {
validate60.errors = [{ instancePath: instancePath + "/attempt", schemaPath: "#/properties/attempt/maximum", keyword: "maximum", params: { comparison: "<=", limit: 32767 } }];
return false;
} else {
if (data2 < 1 || isNaN(data2)) {
validate60.errors = [{ instancePath: instancePath + "/attempt", schemaPath: "#/properties/attempt/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.dispatch !== undefined) {
let data3 = data.dispatch;
const _errs6 = errors;
if (!(typeof data3 == "number" && (!(data3 % 1) && !isNaN(data3)) && isFinite(data3))) {
validate60.errors = [{ instancePath: instancePath + "/dispatch", schemaPath: "#/properties/dispatch/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs6) {
if (typeof data3 == "number" && isFinite(data3)) {
if (data3 < 1 || isNaN(data3)) {
validate60.errors = [{ instancePath: instancePath + "/dispatch", schemaPath: "#/properties/dispatch/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
var valid0 = _errs6 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.workspace_id !== undefined) {
let data4 = data.workspace_id;
const _errs8 = errors;
if (errors === _errs8) {
if (errors === _errs8) {
if (typeof data4 === "string") {
if (!formats0.test(data4)) {
validate60.errors = [{ instancePath: instancePath + "/workspace_id", schemaPath: "#/properties/workspace_id/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate60.errors = [{ instancePath: instancePath + "/workspace_id", schemaPath: "#/properties/workspace_id/type", keyword: "type", params: { type: "string" } }];
return false;
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
validate60.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate60.errors = vErrors;
return errors === 0;
}
validate60.evaluated = { props: { durable: true, job_id: true, attempt: true, dispatch: true, workspace_id: true }, dynamicProps: false, dynamicItems: false };
var validateErrorEnvelope = validate61;
var schema77 = { type: "object", required: ["error"], properties: { type: { const: "error" }, request_id: { type: "string" }, error: { type: "object", required: ["message", "type", "code", "param"], properties: { message: { type: "string" }, type: { enum: ["invalid_request_error", "authentication_error", "permission_error", "quota_exceeded", "rate_limit_error", "server_error"] }, code: { type: ["string", "null"] }, param: { type: ["string", "null"] }, job_id: { type: "string", format: "uuid" } } } } };
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
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.error === undefined && (missing0 = "error")) {
validate61.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs1 = errors;
if (data.type !== "error") {
validate61.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/properties/type/const", keyword: "const", params: { allowedValue: "error" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.request_id !== undefined) {
const _errs2 = errors;
if (typeof data.request_id !== "string") {
validate61.errors = [{ instancePath: instancePath + "/request_id", schemaPath: "#/properties/request_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.error !== undefined) {
let data2 = data.error;
const _errs4 = errors;
if (errors === _errs4) {
if (data2 && typeof data2 == "object" && !Array.isArray(data2)) {
let missing1;
if (data2.message === undefined && (missing1 = "message") || data2.type === undefined && (missing1 = "type") || data2.code === undefined && (missing1 = "code") || data2.param === undefined && (missing1 = "param")) {
validate61.errors = [{ instancePath: instancePath + "/error", schemaPath: "#/properties/error/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data2.message !== undefined) {
const _errs6 = errors;
if (typeof data2.message !== "string") {
validate61.errors = [{ instancePath: instancePath + "/error/message", schemaPath: "#/properties/error/properties/message/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid1 = _errs6 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data2.type !== undefined) {
let data4 = data2.type;
const _errs8 = errors;
if (!(data4 === "invalid_request_error" || data4 === "authentication_error" || data4 === "permission_error" || data4 === "quota_exceeded" || data4 === "rate_limit_error" || data4 === "server_error")) {
validate61.errors = [{ instancePath: instancePath + "/error/type", schemaPath: "#/properties/error/properties/type/enum", keyword: "enum", params: { allowedValues: schema77.properties.error.properties.type.enum } }];
return false;
}
var valid1 = _errs8 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data2.code !== undefined) {
let data5 = data2.code;
const _errs9 = errors;
if (typeof data5 !== "string" && data5 !== null) {
validate61.errors = [{ instancePath: instancePath + "/error/code", schemaPath: "#/properties/error/properties/code/type", keyword: "type", params: { type: schema77.properties.error.properties.code.type } }];
return false;
}
var valid1 = _errs9 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data2.param !== undefined) {
let data6 = data2.param;
const _errs11 = errors;
if (typeof data6 !== "string" && data6 !== null) {
validate61.errors = [{ instancePath: instancePath + "/error/param", schemaPath: "#/properties/error/properties/param/type", keyword: "type", params: { type: schema77.properties.error.properties.param.type } }];
return false;
}
var valid1 = _errs11 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data2.job_id !== undefined) {
let data7 = data2.job_id;
const _errs13 = errors;
if (errors === _errs13) {
if (errors === _errs13) {
if (typeof data7 === "string") {
if (!formats0.test(data7)) {
validate61.errors = [{ instancePath: instancePath + "/error/job_id", schemaPath: "#/properties/error/properties/job_id/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate61.errors = [{ instancePath: instancePath + "/error/job_id", schemaPath: "#/properties/error/properties/job_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid1 = _errs13 === errors;
} else {
var valid1 = true;
}
}
}
}
}
}
} else {
validate61.errors = [{ instancePath: instancePath + "/error", schemaPath: "#/properties/error/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
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
return errors === 0;
}
validate61.evaluated = { props: { type: true, request_id: true, error: true }, dynamicProps: false, dynamicItems: false };
var validateBudgetThresholdReached = validate62;
var schema78 = { type: "object", required: ["alertId", "period", "periodStart", "threshold", "spent"], properties: { alertId: { type: "string", format: "uuid" }, period: { type: "string", enum: ["daily", "weekly", "monthly"] }, periodStart: { type: "string", format: "date-time" }, threshold: { type: "number", minimum: 0 }, spent: { type: "number", minimum: 0 } } };
var formats12 = require_formats().fullFormats["date-time"];
function validate62(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate62.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.alertId === undefined && (missing0 = "alertId") || data.period === undefined && (missing0 = "period") || data.periodStart === undefined && (missing0 = "periodStart") || data.threshold === undefined && (missing0 = "threshold") || data.spent === undefined && (missing0 = "spent")) {
validate62.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.alertId !== undefined) {
let data0 = data.alertId;
const _errs1 = errors;
if (errors === _errs1) {
if (errors === _errs1) {
if (typeof data0 === "string") {
if (!formats0.test(data0)) {
validate62.errors = [{ instancePath: instancePath + "/alertId", schemaPath: "#/properties/alertId/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate62.errors = [{ instancePath: instancePath + "/alertId", schemaPath: "#/properties/alertId/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.period !== undefined) {
let data1 = data.period;
const _errs3 = errors;
if (typeof data1 !== "string") {
validate62.errors = [{ instancePath: instancePath + "/period", schemaPath: "#/properties/period/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data1 === "daily" || data1 === "weekly" || data1 === "monthly")) {
validate62.errors = [{ instancePath: instancePath + "/period", schemaPath: "#/properties/period/enum", keyword: "enum", params: { allowedValues: schema78.properties.period.enum } }];
return false;
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.periodStart !== undefined) {
let data2 = data.periodStart;
const _errs5 = errors;
if (errors === _errs5) {
if (errors === _errs5) {
if (typeof data2 === "string") {
if (!formats12.validate(data2)) {
validate62.errors = [{ instancePath: instancePath + "/periodStart", schemaPath: "#/properties/periodStart/format", keyword: "format", params: { format: "date-time" } }];
return false;
}
} else {
validate62.errors = [{ instancePath: instancePath + "/periodStart", schemaPath: "#/properties/periodStart/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.threshold !== undefined) {
let data3 = data.threshold;
const _errs7 = errors;
if (errors === _errs7) {
if (typeof data3 == "number" && isFinite(data3)) {
if (data3 < 0 || isNaN(data3)) {
validate62.errors = [{ instancePath: instancePath + "/threshold", schemaPath: "#/properties/threshold/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate62.errors = [{ instancePath: instancePath + "/threshold", schemaPath: "#/properties/threshold/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.spent !== undefined) {
let data4 = data.spent;
const _errs9 = errors;
if (errors === _errs9) {
if (typeof data4 == "number" && isFinite(data4)) {
if (data4 < 0 || isNaN(data4)) {
validate62.errors = [{ instancePath: instancePath + "/spent", schemaPath: "#/properties/spent/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate62.errors = [{ instancePath: instancePath + "/spent", schemaPath: "#/properties/spent/type", keyword: "type", params: { type: "number" } }];
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
}
} else {
validate62.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate62.errors = vErrors;
return errors === 0;
}
validate62.evaluated = { props: { alertId: true, period: true, periodStart: true, threshold: true, spent: true }, dynamicProps: false, dynamicItems: false };
var validateJobCompleted = validate63;
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
if (data.jobId === undefined && (missing0 = "jobId") || data.modality === undefined && (missing0 = "modality") || data.creditsUsed === undefined && (missing0 = "creditsUsed")) {
validate63.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.jobId !== undefined) {
let data0 = data.jobId;
const _errs1 = errors;
if (errors === _errs1) {
if (errors === _errs1) {
if (typeof data0 === "string") {
if (!formats0.test(data0)) {
validate63.errors = [{ instancePath: instancePath + "/jobId", schemaPath: "#/properties/jobId/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate63.errors = [{ instancePath: instancePath + "/jobId", schemaPath: "#/properties/jobId/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.modality !== undefined) {
const _errs3 = errors;
if (typeof data.modality !== "string") {
validate63.errors = [{ instancePath: instancePath + "/modality", schemaPath: "#/properties/modality/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.model !== undefined) {
const _errs5 = errors;
if (typeof data.model !== "string") {
validate63.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.durationMs !== undefined) {
let data3 = data.durationMs;
const _errs7 = errors;
if (!(typeof data3 == "number" && (!(data3 % 1) && !isNaN(data3)) && isFinite(data3))) {
validate63.errors = [{ instancePath: instancePath + "/durationMs", schemaPath: "#/properties/durationMs/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs7) {
if (typeof data3 == "number" && isFinite(data3)) {
if (data3 < 0 || isNaN(data3)) {
validate63.errors = [{ instancePath: instancePath + "/durationMs", schemaPath: "#/properties/durationMs/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.creditsUsed !== undefined) {
let data4 = data.creditsUsed;
const _errs9 = errors;
if (errors === _errs9) {
if (typeof data4 == "number" && isFinite(data4)) {
if (data4 < 0 || isNaN(data4)) {
validate63.errors = [{ instancePath: instancePath + "/creditsUsed", schemaPath: "#/properties/creditsUsed/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate63.errors = [{ instancePath: instancePath + "/creditsUsed", schemaPath: "#/properties/creditsUsed/type", keyword: "type", params: { type: "number" } }];
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
}
} else {
validate63.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate63.errors = vErrors;
return errors === 0;
}
validate63.evaluated = { props: { jobId: true, modality: true, model: true, durationMs: true, creditsUsed: true }, dynamicProps: false, dynamicItems: false };
var validateJobFailed = validate64;
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
if (data.jobId === undefined && (missing0 = "jobId") || data.modality === undefined && (missing0 = "modality") || data.creditsUsed === undefined && (missing0 = "creditsUsed") || data.error === undefined && (missing0 = "error")) {
validate64.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.jobId !== undefined) {
let data0 = data.jobId;
const _errs1 = errors;
if (errors === _errs1) {
if (errors === _errs1) {
if (typeof data0 === "string") {
if (!formats0.test(data0)) {
validate64.errors = [{ instancePath: instancePath + "/jobId", schemaPath: "#/properties/jobId/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate64.errors = [{ instancePath: instancePath + "/jobId", schemaPath: "#/properties/jobId/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.modality !== undefined) {
const _errs3 = errors;
if (typeof data.modality !== "string") {
validate64.errors = [{ instancePath: instancePath + "/modality", schemaPath: "#/properties/modality/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.model !== undefined) {
const _errs5 = errors;
if (typeof data.model !== "string") {
validate64.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.durationMs !== undefined) {
let data3 = data.durationMs;
const _errs7 = errors;
if (!(typeof data3 == "number" && (!(data3 % 1) && !isNaN(data3)) && isFinite(data3))) {
validate64.errors = [{ instancePath: instancePath + "/durationMs", schemaPath: "#/properties/durationMs/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs7) {
if (typeof data3 == "number" && isFinite(data3)) {
if (data3 < 0 || isNaN(data3)) {
validate64.errors = [{ instancePath: instancePath + "/durationMs", schemaPath: "#/properties/durationMs/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.creditsUsed !== undefined) {
let data4 = data.creditsUsed;
const _errs9 = errors;
if (errors === _errs9) {
if (typeof data4 == "number" && isFinite(data4)) {
if (data4 < 0 || isNaN(data4)) {
validate64.errors = [{ instancePath: instancePath + "/creditsUsed", schemaPath: "#/properties/creditsUsed/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate64.errors = [{ instancePath: instancePath + "/creditsUsed", schemaPath: "#/properties/creditsUsed/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid0 = _errs9 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.error !== undefined) {
let data5 = data.error;
const _errs11 = errors;
if (errors === _errs11) {
if (data5 && typeof data5 == "object" && !Array.isArray(data5)) {
let missing1;
if (data5.code === undefined && (missing1 = "code") || data5.message === undefined && (missing1 = "message")) {
validate64.errors = [{ instancePath: instancePath + "/error", schemaPath: "#/properties/error/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data5.code !== undefined) {
const _errs13 = errors;
if (typeof data5.code !== "string") {
validate64.errors = [{ instancePath: instancePath + "/error/code", schemaPath: "#/properties/error/properties/code/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid1 = _errs13 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data5.message !== undefined) {
const _errs15 = errors;
if (typeof data5.message !== "string") {
validate64.errors = [{ instancePath: instancePath + "/error/message", schemaPath: "#/properties/error/properties/message/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid1 = _errs15 === errors;
} else {
var valid1 = true;
}
}
}
} else {
validate64.errors = [{ instancePath: instancePath + "/error", schemaPath: "#/properties/error/type", keyword: "type", params: { type: "object" } }];
return false;
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
validate64.evaluated = { props: { jobId: true, modality: true, model: true, durationMs: true, creditsUsed: true, error: true }, dynamicProps: false, dynamicItems: false };
var validateRunCancelled = validate65;
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
if (data.runId === undefined && (missing0 = "runId") || data.creditsUsed === undefined && (missing0 = "creditsUsed")) {
validate65.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.runId !== undefined) {
let data0 = data.runId;
const _errs1 = errors;
if (errors === _errs1) {
if (errors === _errs1) {
if (typeof data0 === "string") {
if (!formats0.test(data0)) {
validate65.errors = [{ instancePath: instancePath + "/runId", schemaPath: "#/properties/runId/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate65.errors = [{ instancePath: instancePath + "/runId", schemaPath: "#/properties/runId/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.workflowId !== undefined) {
let data1 = data.workflowId;
const _errs3 = errors;
if (errors === _errs3) {
if (errors === _errs3) {
if (typeof data1 === "string") {
if (!formats0.test(data1)) {
validate65.errors = [{ instancePath: instancePath + "/workflowId", schemaPath: "#/properties/workflowId/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate65.errors = [{ instancePath: instancePath + "/workflowId", schemaPath: "#/properties/workflowId/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.durationMs !== undefined) {
let data2 = data.durationMs;
const _errs5 = errors;
if (!(typeof data2 == "number" && (!(data2 % 1) && !isNaN(data2)) && isFinite(data2))) {
validate65.errors = [{ instancePath: instancePath + "/durationMs", schemaPath: "#/properties/durationMs/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs5) {
if (typeof data2 == "number" && isFinite(data2)) {
if (data2 < 0 || isNaN(data2)) {
validate65.errors = [{ instancePath: instancePath + "/durationMs", schemaPath: "#/properties/durationMs/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.creditsUsed !== undefined) {
let data3 = data.creditsUsed;
const _errs7 = errors;
if (errors === _errs7) {
if (typeof data3 == "number" && isFinite(data3)) {
if (data3 < 0 || isNaN(data3)) {
validate65.errors = [{ instancePath: instancePath + "/creditsUsed", schemaPath: "#/properties/creditsUsed/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate65.errors = [{ instancePath: instancePath + "/creditsUsed", schemaPath: "#/properties/creditsUsed/type", keyword: "type", params: { type: "number" } }];
return false;
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
validate65.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate65.errors = vErrors;
return errors === 0;
}
validate65.evaluated = { props: { runId: true, workflowId: true, durationMs: true, creditsUsed: true }, dynamicProps: false, dynamicItems: false };
var validateRunFailed = validate66;
function validate66(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate66.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.runId === undefined && (missing0 = "runId") || data.creditsUsed === undefined && (missing0 = "creditsUsed") || data.error === undefined && (missing0 = "error")) {
validate66.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.runId !== undefined) {
let data0 = data.runId;
const _errs1 = errors;
if (errors === _errs1) {
if (errors === _errs1) {
if (typeof data0 === "string") {
if (!formats0.test(data0)) {
validate66.errors = [{ instancePath: instancePath + "/runId", schemaPath: "#/properties/runId/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate66.errors = [{ instancePath: instancePath + "/runId", schemaPath: "#/properties/runId/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.workflowId !== undefined) {
let data1 = data.workflowId;
const _errs3 = errors;
if (errors === _errs3) {
if (errors === _errs3) {
if (typeof data1 === "string") {
if (!formats0.test(data1)) {
validate66.errors = [{ instancePath: instancePath + "/workflowId", schemaPath: "#/properties/workflowId/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate66.errors = [{ instancePath: instancePath + "/workflowId", schemaPath: "#/properties/workflowId/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.durationMs !== undefined) {
let data2 = data.durationMs;
const _errs5 = errors;
if (!(typeof data2 == "number" && (!(data2 % 1) && !isNaN(data2)) && isFinite(data2))) {
validate66.errors = [{ instancePath: instancePath + "/durationMs", schemaPath: "#/properties/durationMs/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs5) {
if (typeof data2 == "number" && isFinite(data2)) {
if (data2 < 0 || isNaN(data2)) {
validate66.errors = [{ instancePath: instancePath + "/durationMs", schemaPath: "#/properties/durationMs/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.creditsUsed !== undefined) {
let data3 = data.creditsUsed;
const _errs7 = errors;
if (errors === _errs7) {
if (typeof data3 == "number" && isFinite(data3)) {
if (data3 < 0 || isNaN(data3)) {
validate66.errors = [{ instancePath: instancePath + "/creditsUsed", schemaPath: "#/properties/creditsUsed/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate66.errors = [{ instancePath: instancePath + "/creditsUsed", schemaPath: "#/properties/creditsUsed/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.error !== undefined) {
let data4 = data.error;
const _errs9 = errors;
if (errors === _errs9) {
if (data4 && typeof data4 == "object" && !Array.isArray(data4)) {
let missing1;
if (data4.code === undefined && (missing1 = "code") || data4.message === undefined && (missing1 = "message")) {
validate66.errors = [{ instancePath: instancePath + "/error", schemaPath: "#/properties/error/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data4.code !== undefined) {
const _errs11 = errors;
if (typeof data4.code !== "string") {
validate66.errors = [{ instancePath: instancePath + "/error/code", schemaPath: "#/properties/error/properties/code/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid1 = _errs11 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data4.message !== undefined) {
const _errs13 = errors;
if (typeof data4.message !== "string") {
validate66.errors = [{ instancePath: instancePath + "/error/message", schemaPath: "#/properties/error/properties/message/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid1 = _errs13 === errors;
} else {
var valid1 = true;
}
}
}
} else {
validate66.errors = [{ instancePath: instancePath + "/error", schemaPath: "#/properties/error/type", keyword: "type", params: { type: "object" } }];
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
}
} else {
validate66.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate66.errors = vErrors;
return errors === 0;
}
validate66.evaluated = { props: { runId: true, workflowId: true, durationMs: true, creditsUsed: true, error: true }, dynamicProps: false, dynamicItems: false };
var validateRunRetrying = validate67;
function validate67(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate67.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.runId === undefined && (missing0 = "runId") || data.attempt === undefined && (missing0 = "attempt") || data.maxAttempts === undefined && (missing0 = "maxAttempts")) {
validate67.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.runId !== undefined) {
let data0 = data.runId;
const _errs1 = errors;
if (errors === _errs1) {
if (errors === _errs1) {
if (typeof data0 === "string") {
if (!formats0.test(data0)) {
validate67.errors = [{ instancePath: instancePath + "/runId", schemaPath: "#/properties/runId/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate67.errors = [{ instancePath: instancePath + "/runId", schemaPath: "#/properties/runId/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.workflowId !== undefined) {
let data1 = data.workflowId;
const _errs3 = errors;
if (errors === _errs3) {
if (errors === _errs3) {
if (typeof data1 === "string") {
if (!formats0.test(data1)) {
validate67.errors = [{ instancePath: instancePath + "/workflowId", schemaPath: "#/properties/workflowId/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate67.errors = [{ instancePath: instancePath + "/workflowId", schemaPath: "#/properties/workflowId/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.attempt !== undefined) {
let data2 = data.attempt;
const _errs5 = errors;
if (!(typeof data2 == "number" && (!(data2 % 1) && !isNaN(data2)) && isFinite(data2))) {
validate67.errors = [{ instancePath: instancePath + "/attempt", schemaPath: "#/properties/attempt/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs5) {
if (typeof data2 == "number" && isFinite(data2)) {
if (data2 < 2 || isNaN(data2)) {
validate67.errors = [{ instancePath: instancePath + "/attempt", schemaPath: "#/properties/attempt/minimum", keyword: "minimum", params: { comparison: ">=", limit: 2 } }];
return false;
}
}
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.maxAttempts !== undefined) {
let data3 = data.maxAttempts;
const _errs7 = errors;
if (!(typeof data3 == "number" && (!(data3 % 1) && !isNaN(data3)) && isFinite(data3))) {
validate67.errors = [{ instancePath: instancePath + "/maxAttempts", schemaPath: "#/properties/maxAttempts/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs7) {
if (typeof data3 == "number" && isFinite(data3)) {
if (data3 < 2 || isNaN(data3)) {
validate67.errors = [{ instancePath: instancePath + "/maxAttempts", schemaPath: "#/properties/maxAttempts/minimum", keyword: "minimum", params: { comparison: ">=", limit: 2 } }];
return false;
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
validate67.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate67.errors = vErrors;
return errors === 0;
}
validate67.evaluated = { props: { runId: true, workflowId: true, attempt: true, maxAttempts: true }, dynamicProps: false, dynamicItems: false };
var validateRunStarted = validate68;
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
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.runId === undefined && (missing0 = "runId") || data.attempt === undefined && (missing0 = "attempt")) {
validate68.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.runId !== undefined) {
let data0 = data.runId;
const _errs1 = errors;
if (errors === _errs1) {
if (errors === _errs1) {
if (typeof data0 === "string") {
if (!formats0.test(data0)) {
validate68.errors = [{ instancePath: instancePath + "/runId", schemaPath: "#/properties/runId/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate68.errors = [{ instancePath: instancePath + "/runId", schemaPath: "#/properties/runId/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.workflowId !== undefined) {
let data1 = data.workflowId;
const _errs3 = errors;
if (errors === _errs3) {
if (errors === _errs3) {
if (typeof data1 === "string") {
if (!formats0.test(data1)) {
validate68.errors = [{ instancePath: instancePath + "/workflowId", schemaPath: "#/properties/workflowId/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate68.errors = [{ instancePath: instancePath + "/workflowId", schemaPath: "#/properties/workflowId/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.attempt !== undefined) {
let data2 = data.attempt;
const _errs5 = errors;
if (!(typeof data2 == "number" && (!(data2 % 1) && !isNaN(data2)) && isFinite(data2))) {
validate68.errors = [{ instancePath: instancePath + "/attempt", schemaPath: "#/properties/attempt/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs5) {
if (typeof data2 == "number" && isFinite(data2)) {
if (data2 < 1 || isNaN(data2)) {
validate68.errors = [{ instancePath: instancePath + "/attempt", schemaPath: "#/properties/attempt/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
}
}
}
} else {
validate68.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate68.errors = vErrors;
return errors === 0;
}
validate68.evaluated = { props: { runId: true, workflowId: true, attempt: true }, dynamicProps: false, dynamicItems: false };
var validateRunSucceeded = validate69;
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
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.runId === undefined && (missing0 = "runId") || data.creditsUsed === undefined && (missing0 = "creditsUsed")) {
validate69.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.runId !== undefined) {
let data0 = data.runId;
const _errs1 = errors;
if (errors === _errs1) {
if (errors === _errs1) {
if (typeof data0 === "string") {
if (!formats0.test(data0)) {
validate69.errors = [{ instancePath: instancePath + "/runId", schemaPath: "#/properties/runId/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate69.errors = [{ instancePath: instancePath + "/runId", schemaPath: "#/properties/runId/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.workflowId !== undefined) {
let data1 = data.workflowId;
const _errs3 = errors;
if (errors === _errs3) {
if (errors === _errs3) {
if (typeof data1 === "string") {
if (!formats0.test(data1)) {
validate69.errors = [{ instancePath: instancePath + "/workflowId", schemaPath: "#/properties/workflowId/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate69.errors = [{ instancePath: instancePath + "/workflowId", schemaPath: "#/properties/workflowId/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.durationMs !== undefined) {
let data2 = data.durationMs;
const _errs5 = errors;
if (!(typeof data2 == "number" && (!(data2 % 1) && !isNaN(data2)) && isFinite(data2))) {
validate69.errors = [{ instancePath: instancePath + "/durationMs", schemaPath: "#/properties/durationMs/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs5) {
if (typeof data2 == "number" && isFinite(data2)) {
if (data2 < 0 || isNaN(data2)) {
validate69.errors = [{ instancePath: instancePath + "/durationMs", schemaPath: "#/properties/durationMs/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.creditsUsed !== undefined) {
let data3 = data.creditsUsed;
const _errs7 = errors;
if (errors === _errs7) {
if (typeof data3 == "number" && isFinite(data3)) {
if (data3 < 0 || isNaN(data3)) {
validate69.errors = [{ instancePath: instancePath + "/creditsUsed", schemaPath: "#/properties/creditsUsed/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate69.errors = [{ instancePath: instancePath + "/creditsUsed", schemaPath: "#/properties/creditsUsed/type", keyword: "type", params: { type: "number" } }];
return false;
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
validate69.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate69.errors = vErrors;
return errors === 0;
}
validate69.evaluated = { props: { runId: true, workflowId: true, durationMs: true, creditsUsed: true }, dynamicProps: false, dynamicItems: false };
var validateTemplateUnavailable = validate70;
function validate70(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate70.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.workflowId === undefined && (missing0 = "workflowId") || data.stepId === undefined && (missing0 = "stepId") || data.missing === undefined && (missing0 = "missing")) {
validate70.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.workflowId !== undefined) {
let data0 = data.workflowId;
const _errs1 = errors;
if (errors === _errs1) {
if (errors === _errs1) {
if (typeof data0 === "string") {
if (!formats0.test(data0)) {
validate70.errors = [{ instancePath: instancePath + "/workflowId", schemaPath: "#/properties/workflowId/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate70.errors = [{ instancePath: instancePath + "/workflowId", schemaPath: "#/properties/workflowId/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.stepId !== undefined) {
const _errs3 = errors;
if (typeof data.stepId !== "string") {
validate70.errors = [{ instancePath: instancePath + "/stepId", schemaPath: "#/properties/stepId/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.missing !== undefined) {
const _errs5 = errors;
if (typeof data.missing !== "string") {
validate70.errors = [{ instancePath: instancePath + "/missing", schemaPath: "#/properties/missing/type", keyword: "type", params: { type: "string" } }];
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
validate70.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate70.errors = vErrors;
return errors === 0;
}
validate70.evaluated = { props: { workflowId: true, stepId: true, missing: true }, dynamicProps: false, dynamicItems: false };
var validateJobMessage = validate71;
var schema87 = { type: "object", required: ["job_id", "attempt", "dispatch", "kind", "request_id", "workspace_id", "key_id", "model", "hold_nano", "may_exceed", "output_tokens_max", "price", "deadline_ms"], properties: { job_id: { type: "string", format: "uuid" }, attempt: { type: "integer", minimum: 1, maximum: 32767 }, dispatch: { type: "integer", minimum: 1 }, kind: { type: "string", enum: ["chat", "embeddings", "images", "image_edits", "speech", "transcription", "video", "music", "mesh"] }, api: { type: "string", enum: ["openai", "anthropic"] }, request_id: { type: "string" }, workspace_id: { type: "string", format: "uuid" }, key_id: { type: "string", format: "uuid" }, model: { type: "string", minLength: 1 }, hold_nano: { type: "string", pattern: "^[0-9]{1,19}$" }, may_exceed: { type: "boolean" }, output_tokens_max: { type: "integer", minimum: 0 }, price: { type: "object" }, deadline_ms: { type: "integer", minimum: 0 }, reply: { type: "string" }, repeat: { type: "boolean" }, fallbacks: { type: "array", maxItems: 10, items: { type: "string", minLength: 1 } }, continue_streams: { type: "boolean" }, stream: { type: "boolean" }, cache: { type: "object", required: ["key", "ttl_s"], properties: { key: { type: "string", pattern: "^[0-9a-f]{64}$" }, ttl_s: { type: "integer", minimum: 1 } } }, stored_inputs: { type: "object", additionalProperties: { type: "object", required: ["reference", "content_type"], properties: { reference: { type: "string", minLength: 1 }, content_type: { type: "string", minLength: 1 } } } }, fingerprint: { type: "string", pattern: "^[0-9a-f]{64}$" }, request: { type: "object" }, request_ref: { type: "string", minLength: 1 } }, if: { required: ["request_ref"] }, else: { required: ["request"] } };
var pattern11 = new RegExp("^[0-9]{1,19}$", "u");
var pattern12 = new RegExp("^[0-9a-f]{64}$", "u");
function validate71(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate71.evaluated;
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
validate71.errors = [{ instancePath, schemaPath: "#/else/required", keyword: "required", params: { missingProperty: missing1 } }];
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
validate71.errors = vErrors;
return false;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing2;
if (data.job_id === undefined && (missing2 = "job_id") || data.attempt === undefined && (missing2 = "attempt") || data.dispatch === undefined && (missing2 = "dispatch") || data.kind === undefined && (missing2 = "kind") || data.request_id === undefined && (missing2 = "request_id") || data.workspace_id === undefined && (missing2 = "workspace_id") || data.key_id === undefined && (missing2 = "key_id") || data.model === undefined && (missing2 = "model") || data.hold_nano === undefined && (missing2 = "hold_nano") || data.may_exceed === undefined && (missing2 = "may_exceed") || data.output_tokens_max === undefined && (missing2 = "output_tokens_max") || data.price === undefined && (missing2 = "price") || data.deadline_ms === undefined && (missing2 = "deadline_ms")) {
validate71.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data.job_id !== undefined) {
let data0 = data.job_id;
const _errs4 = errors;
if (errors === _errs4) {
if (errors === _errs4) {
if (typeof data0 === "string") {
if (!formats0.test(data0)) {
validate71.errors = [{ instancePath: instancePath + "/job_id", schemaPath: "#/properties/job_id/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate71.errors = [{ instancePath: instancePath + "/job_id", schemaPath: "#/properties/job_id/type", keyword: "type", params: { type: "string" } }];
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
validate71.errors = [{ instancePath: instancePath + "/attempt", schemaPath: "#/properties/attempt/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs6) {
if (typeof data1 == "number" && isFinite(data1)) {
if (data1 > 32767 || isNaN(data1)) {
validate71.errors = [{ instancePath: instancePath + "/attempt", schemaPath: "#/properties/attempt/maximum", keyword: "maximum", params: { comparison: "<=", limit: 32767 } }];
return false;
} else {
if (data1 < 1 || isNaN(data1)) {
validate71.errors = [{ instancePath: instancePath + "/attempt", schemaPath: "#/properties/attempt/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
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
validate71.errors = [{ instancePath: instancePath + "/dispatch", schemaPath: "#/properties/dispatch/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs8) {
if (typeof data2 == "number" && isFinite(data2)) {
if (data2 < 1 || isNaN(data2)) {
validate71.errors = [{ instancePath: instancePath + "/dispatch", schemaPath: "#/properties/dispatch/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
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
let data3 = data.kind;
const _errs10 = errors;
if (typeof data3 !== "string") {
validate71.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data3 === "chat" || data3 === "embeddings" || data3 === "images" || data3 === "image_edits" || data3 === "speech" || data3 === "transcription" || data3 === "video" || data3 === "music" || data3 === "mesh")) {
validate71.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/enum", keyword: "enum", params: { allowedValues: schema87.properties.kind.enum } }];
return false;
}
var valid1 = _errs10 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.api !== undefined) {
let data4 = data.api;
const _errs12 = errors;
if (typeof data4 !== "string") {
validate71.errors = [{ instancePath: instancePath + "/api", schemaPath: "#/properties/api/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data4 === "openai" || data4 === "anthropic")) {
validate71.errors = [{ instancePath: instancePath + "/api", schemaPath: "#/properties/api/enum", keyword: "enum", params: { allowedValues: schema87.properties.api.enum } }];
return false;
}
var valid1 = _errs12 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.request_id !== undefined) {
const _errs14 = errors;
if (typeof data.request_id !== "string") {
validate71.errors = [{ instancePath: instancePath + "/request_id", schemaPath: "#/properties/request_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid1 = _errs14 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.workspace_id !== undefined) {
let data6 = data.workspace_id;
const _errs16 = errors;
if (errors === _errs16) {
if (errors === _errs16) {
if (typeof data6 === "string") {
if (!formats0.test(data6)) {
validate71.errors = [{ instancePath: instancePath + "/workspace_id", schemaPath: "#/properties/workspace_id/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate71.errors = [{ instancePath: instancePath + "/workspace_id", schemaPath: "#/properties/workspace_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid1 = _errs16 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.key_id !== undefined) {
let data7 = data.key_id;
const _errs18 = errors;
if (errors === _errs18) {
if (errors === _errs18) {
if (typeof data7 === "string") {
if (!formats0.test(data7)) {
validate71.errors = [{ instancePath: instancePath + "/key_id", schemaPath: "#/properties/key_id/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate71.errors = [{ instancePath: instancePath + "/key_id", schemaPath: "#/properties/key_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid1 = _errs18 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.model !== undefined) {
let data8 = data.model;
const _errs20 = errors;
if (errors === _errs20) {
if (typeof data8 === "string") {
if (func3(data8) < 1) {
validate71.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate71.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid1 = _errs20 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.hold_nano !== undefined) {
let data9 = data.hold_nano;
const _errs22 = errors;
if (errors === _errs22) {
if (typeof data9 === "string") {
if (!pattern11.test(data9)) {
validate71.errors = [{ instancePath: instancePath + "/hold_nano", schemaPath: "#/properties/hold_nano/pattern", keyword: "pattern", params: { pattern: "^[0-9]{1,19}$" } }];
return false;
}
} else {
validate71.errors = [{ instancePath: instancePath + "/hold_nano", schemaPath: "#/properties/hold_nano/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid1 = _errs22 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.may_exceed !== undefined) {
const _errs24 = errors;
if (typeof data.may_exceed !== "boolean") {
validate71.errors = [{ instancePath: instancePath + "/may_exceed", schemaPath: "#/properties/may_exceed/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid1 = _errs24 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.output_tokens_max !== undefined) {
let data11 = data.output_tokens_max;
const _errs26 = errors;
if (!(typeof data11 == "number" && (!(data11 % 1) && !isNaN(data11)) && isFinite(data11))) {
validate71.errors = [{ instancePath: instancePath + "/output_tokens_max", schemaPath: "#/properties/output_tokens_max/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs26) {
if (typeof data11 == "number" && isFinite(data11)) {
if (data11 < 0 || isNaN(data11)) {
validate71.errors = [{ instancePath: instancePath + "/output_tokens_max", schemaPath: "#/properties/output_tokens_max/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid1 = _errs26 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.price !== undefined) {
let data12 = data.price;
const _errs28 = errors;
if (!(data12 && typeof data12 == "object" && !Array.isArray(data12))) {
validate71.errors = [{ instancePath: instancePath + "/price", schemaPath: "#/properties/price/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid1 = _errs28 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.deadline_ms !== undefined) {
let data13 = data.deadline_ms;
const _errs30 = errors;
if (!(typeof data13 == "number" && (!(data13 % 1) && !isNaN(data13)) && isFinite(data13))) {
validate71.errors = [{ instancePath: instancePath + "/deadline_ms", schemaPath: "#/properties/deadline_ms/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs30) {
if (typeof data13 == "number" && isFinite(data13)) {
if (data13 < 0 || isNaN(data13)) {
validate71.errors = [{ instancePath: instancePath + "/deadline_ms", schemaPath: "#/properties/deadline_ms/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid1 = _errs30 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.reply !== undefined) {
const _errs32 = errors;
if (typeof data.reply !== "string") {
validate71.errors = [{ instancePath: instancePath + "/reply", schemaPath: "#/properties/reply/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid1 = _errs32 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.repeat !== undefined) {
const _errs34 = errors;
if (typeof data.repeat !== "boolean") {
validate71.errors = [{ instancePath: instancePath + "/repeat", schemaPath: "#/properties/repeat/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid1 = _errs34 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.fallbacks !== undefined) {
let data16 = data.fallbacks;
const _errs36 = errors;
if (errors === _errs36) {
if (Array.isArray(data16)) {
if (data16.length > 10) {
validate71.errors = [{ instancePath: instancePath + "/fallbacks", schemaPath: "#/properties/fallbacks/maxItems", keyword: "maxItems", params: { limit: 10 } }];
return false;
} else {
var valid2 = true;
const len0 = data16.length;
for (let i0 = 0;i0 < len0; i0++) {
let data17 = data16[i0];
const _errs38 = errors;
if (errors === _errs38) {
if (typeof data17 === "string") {
if (func3(data17) < 1) {
validate71.errors = [{ instancePath: instancePath + "/fallbacks/" + i0, schemaPath: "#/properties/fallbacks/items/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate71.errors = [{ instancePath: instancePath + "/fallbacks/" + i0, schemaPath: "#/properties/fallbacks/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid2 = _errs38 === errors;
if (!valid2) {
break;
}
}
}
} else {
validate71.errors = [{ instancePath: instancePath + "/fallbacks", schemaPath: "#/properties/fallbacks/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid1 = _errs36 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.continue_streams !== undefined) {
const _errs40 = errors;
if (typeof data.continue_streams !== "boolean") {
validate71.errors = [{ instancePath: instancePath + "/continue_streams", schemaPath: "#/properties/continue_streams/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid1 = _errs40 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.stream !== undefined) {
const _errs42 = errors;
if (typeof data.stream !== "boolean") {
validate71.errors = [{ instancePath: instancePath + "/stream", schemaPath: "#/properties/stream/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid1 = _errs42 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.cache !== undefined) {
let data20 = data.cache;
const _errs44 = errors;
if (errors === _errs44) {
if (data20 && typeof data20 == "object" && !Array.isArray(data20)) {
let missing3;
if (data20.key === undefined && (missing3 = "key") || data20.ttl_s === undefined && (missing3 = "ttl_s")) {
validate71.errors = [{ instancePath: instancePath + "/cache", schemaPath: "#/properties/cache/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data20.key !== undefined) {
let data21 = data20.key;
const _errs46 = errors;
if (errors === _errs46) {
if (typeof data21 === "string") {
if (!pattern12.test(data21)) {
validate71.errors = [{ instancePath: instancePath + "/cache/key", schemaPath: "#/properties/cache/properties/key/pattern", keyword: "pattern", params: { pattern: "^[0-9a-f]{64}$" } }];
return false;
}
} else {
validate71.errors = [{ instancePath: instancePath + "/cache/key", schemaPath: "#/properties/cache/properties/key/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid3 = _errs46 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data20.ttl_s !== undefined) {
let data22 = data20.ttl_s;
const _errs48 = errors;
if (!(typeof data22 == "number" && (!(data22 % 1) && !isNaN(data22)) && isFinite(data22))) {
validate71.errors = [{ instancePath: instancePath + "/cache/ttl_s", schemaPath: "#/properties/cache/properties/ttl_s/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs48) {
if (typeof data22 == "number" && isFinite(data22)) {
if (data22 < 1 || isNaN(data22)) {
validate71.errors = [{ instancePath: instancePath + "/cache/ttl_s", schemaPath: "#/properties/cache/properties/ttl_s/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
var valid3 = _errs48 === errors;
} else {
var valid3 = true;
}
}
}
} else {
validate71.errors = [{ instancePath: instancePath + "/cache", schemaPath: "#/properties/cache/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid1 = _errs44 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.stored_inputs !== undefined) {
let data23 = data.stored_inputs;
const _errs50 = errors;
if (errors === _errs50) {
if (data23 && typeof data23 == "object" && !Array.isArray(data23)) {
for (const key0 in data23) {
let data24 = data23[key0];
const _errs53 = errors;
if (errors === _errs53) {
if (data24 && typeof data24 == "object" && !Array.isArray(data24)) {
let missing4;
if (data24.reference === undefined && (missing4 = "reference") || data24.content_type === undefined && (missing4 = "content_type")) {
validate71.errors = [{ instancePath: instancePath + "/stored_inputs/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/stored_inputs/additionalProperties/required", keyword: "required", params: { missingProperty: missing4 } }];
return false;
} else {
if (data24.reference !== undefined) {
let data25 = data24.reference;
const _errs55 = errors;
if (errors === _errs55) {
if (typeof data25 === "string") {
if (func3(data25) < 1) {
validate71.errors = [{ instancePath: instancePath + "/stored_inputs/" + key0.replace(/~/g, "~0").replace(/\//g, "~1") + "/reference", schemaPath: "#/properties/stored_inputs/additionalProperties/properties/reference/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate71.errors = [{ instancePath: instancePath + "/stored_inputs/" + key0.replace(/~/g, "~0").replace(/\//g, "~1") + "/reference", schemaPath: "#/properties/stored_inputs/additionalProperties/properties/reference/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid5 = _errs55 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data24.content_type !== undefined) {
let data26 = data24.content_type;
const _errs57 = errors;
if (errors === _errs57) {
if (typeof data26 === "string") {
if (func3(data26) < 1) {
validate71.errors = [{ instancePath: instancePath + "/stored_inputs/" + key0.replace(/~/g, "~0").replace(/\//g, "~1") + "/content_type", schemaPath: "#/properties/stored_inputs/additionalProperties/properties/content_type/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate71.errors = [{ instancePath: instancePath + "/stored_inputs/" + key0.replace(/~/g, "~0").replace(/\//g, "~1") + "/content_type", schemaPath: "#/properties/stored_inputs/additionalProperties/properties/content_type/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid5 = _errs57 === errors;
} else {
var valid5 = true;
}
}
}
} else {
validate71.errors = [{ instancePath: instancePath + "/stored_inputs/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/stored_inputs/additionalProperties/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid4 = _errs53 === errors;
if (!valid4) {
break;
}
}
} else {
validate71.errors = [{ instancePath: instancePath + "/stored_inputs", schemaPath: "#/properties/stored_inputs/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid1 = _errs50 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.fingerprint !== undefined) {
let data27 = data.fingerprint;
const _errs59 = errors;
if (errors === _errs59) {
if (typeof data27 === "string") {
if (!pattern12.test(data27)) {
validate71.errors = [{ instancePath: instancePath + "/fingerprint", schemaPath: "#/properties/fingerprint/pattern", keyword: "pattern", params: { pattern: "^[0-9a-f]{64}$" } }];
return false;
}
} else {
validate71.errors = [{ instancePath: instancePath + "/fingerprint", schemaPath: "#/properties/fingerprint/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid1 = _errs59 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.request !== undefined) {
let data28 = data.request;
const _errs61 = errors;
if (!(data28 && typeof data28 == "object" && !Array.isArray(data28))) {
validate71.errors = [{ instancePath: instancePath + "/request", schemaPath: "#/properties/request/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid1 = _errs61 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data.request_ref !== undefined) {
let data29 = data.request_ref;
const _errs63 = errors;
if (errors === _errs63) {
if (typeof data29 === "string") {
if (func3(data29) < 1) {
validate71.errors = [{ instancePath: instancePath + "/request_ref", schemaPath: "#/properties/request_ref/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate71.errors = [{ instancePath: instancePath + "/request_ref", schemaPath: "#/properties/request_ref/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid1 = _errs63 === errors;
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
validate71.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate71.errors = vErrors;
return errors === 0;
}
validate71.evaluated = { props: { job_id: true, attempt: true, dispatch: true, kind: true, api: true, request_id: true, workspace_id: true, key_id: true, model: true, hold_nano: true, may_exceed: true, output_tokens_max: true, price: true, deadline_ms: true, reply: true, repeat: true, fallbacks: true, continue_streams: true, stream: true, cache: true, stored_inputs: true, fingerprint: true, request: true, request_ref: true }, dynamicProps: false, dynamicItems: false };
var validateMediaOutcome = validate72;
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
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.object === undefined && (missing0 = "object") || data.created === undefined && (missing0 = "created") || data.model === undefined && (missing0 = "model") || data.data === undefined && (missing0 = "data")) {
validate72.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.object !== undefined) {
const _errs1 = errors;
if (data.object !== "media.outcome") {
validate72.errors = [{ instancePath: instancePath + "/object", schemaPath: "#/properties/object/const", keyword: "const", params: { allowedValue: "media.outcome" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.created !== undefined) {
let data1 = data.created;
const _errs2 = errors;
if (!(typeof data1 == "number" && (!(data1 % 1) && !isNaN(data1)) && isFinite(data1))) {
validate72.errors = [{ instancePath: instancePath + "/created", schemaPath: "#/properties/created/type", keyword: "type", params: { type: "integer" } }];
return false;
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.model !== undefined) {
const _errs4 = errors;
if (typeof data.model !== "string") {
validate72.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.fallback !== undefined) {
let data3 = data.fallback;
const _errs6 = errors;
if (errors === _errs6) {
if (data3 && typeof data3 == "object" && !Array.isArray(data3)) {
let missing1;
if (data3.from === undefined && (missing1 = "from") || data3.depth === undefined && (missing1 = "depth")) {
validate72.errors = [{ instancePath: instancePath + "/fallback", schemaPath: "#/properties/fallback/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data3.from !== undefined) {
const _errs8 = errors;
if (typeof data3.from !== "string") {
validate72.errors = [{ instancePath: instancePath + "/fallback/from", schemaPath: "#/properties/fallback/properties/from/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid1 = _errs8 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data3.depth !== undefined) {
let data5 = data3.depth;
const _errs10 = errors;
if (!(typeof data5 == "number" && (!(data5 % 1) && !isNaN(data5)) && isFinite(data5))) {
validate72.errors = [{ instancePath: instancePath + "/fallback/depth", schemaPath: "#/properties/fallback/properties/depth/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs10) {
if (typeof data5 == "number" && isFinite(data5)) {
if (data5 < 1 || isNaN(data5)) {
validate72.errors = [{ instancePath: instancePath + "/fallback/depth", schemaPath: "#/properties/fallback/properties/depth/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
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
} else {
validate72.errors = [{ instancePath: instancePath + "/fallback", schemaPath: "#/properties/fallback/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs6 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.data !== undefined) {
let data6 = data.data;
const _errs12 = errors;
if (errors === _errs12) {
if (Array.isArray(data6)) {
var valid2 = true;
const len0 = data6.length;
for (let i0 = 0;i0 < len0; i0++) {
let data7 = data6[i0];
const _errs14 = errors;
if (errors === _errs14) {
if (data7 && typeof data7 == "object" && !Array.isArray(data7)) {
let missing2;
if (data7.file_id === undefined && (missing2 = "file_id") || data7.content_type === undefined && (missing2 = "content_type") || data7.bytes === undefined && (missing2 = "bytes")) {
validate72.errors = [{ instancePath: instancePath + "/data/" + i0, schemaPath: "#/properties/data/items/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data7.file_id !== undefined) {
const _errs16 = errors;
if (typeof data7.file_id !== "string") {
validate72.errors = [{ instancePath: instancePath + "/data/" + i0 + "/file_id", schemaPath: "#/properties/data/items/properties/file_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid3 = _errs16 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data7.content_type !== undefined) {
const _errs18 = errors;
if (typeof data7.content_type !== "string") {
validate72.errors = [{ instancePath: instancePath + "/data/" + i0 + "/content_type", schemaPath: "#/properties/data/items/properties/content_type/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid3 = _errs18 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data7.bytes !== undefined) {
let data10 = data7.bytes;
const _errs20 = errors;
if (!(typeof data10 == "number" && (!(data10 % 1) && !isNaN(data10)) && isFinite(data10))) {
validate72.errors = [{ instancePath: instancePath + "/data/" + i0 + "/bytes", schemaPath: "#/properties/data/items/properties/bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs20) {
if (typeof data10 == "number" && isFinite(data10)) {
if (data10 < 0 || isNaN(data10)) {
validate72.errors = [{ instancePath: instancePath + "/data/" + i0 + "/bytes", schemaPath: "#/properties/data/items/properties/bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid3 = _errs20 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data7.duration_seconds !== undefined) {
let data11 = data7.duration_seconds;
const _errs22 = errors;
if (errors === _errs22) {
if (typeof data11 == "number" && isFinite(data11)) {
if (data11 < 0 || isNaN(data11)) {
validate72.errors = [{ instancePath: instancePath + "/data/" + i0 + "/duration_seconds", schemaPath: "#/properties/data/items/properties/duration_seconds/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate72.errors = [{ instancePath: instancePath + "/data/" + i0 + "/duration_seconds", schemaPath: "#/properties/data/items/properties/duration_seconds/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid3 = _errs22 === errors;
} else {
var valid3 = true;
}
}
}
}
}
} else {
validate72.errors = [{ instancePath: instancePath + "/data/" + i0, schemaPath: "#/properties/data/items/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid2 = _errs14 === errors;
if (!valid2) {
break;
}
}
} else {
validate72.errors = [{ instancePath: instancePath + "/data", schemaPath: "#/properties/data/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs12 === errors;
} else {
var valid0 = true;
}
}
}
}
}
}
} else {
validate72.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate72.errors = vErrors;
return errors === 0;
}
validate72.evaluated = { props: { object: true, created: true, model: true, fallback: true, data: true }, dynamicProps: false, dynamicItems: false };
var validateModelEntry = validate73;
var schema89 = { type: "object", required: ["id", "object", "created", "owned_by", "permission", "root", "parent", "_svc"], properties: { id: { type: "string" }, object: { const: "model" }, created: { type: "integer", minimum: 0 }, owned_by: { type: "string" }, permission: { type: "array", items: {} }, root: { type: "string" }, parent: { type: ["string", "null"] }, _svc: { type: "object", required: ["modality", "supports_chat", "supports_embeddings", "supports_streaming", "supports_tools", "max_context_tokens", "max_output_tokens", "pricing", "allowed_params"], properties: { modality: { $ref: "Modality" }, supports_chat: { type: "boolean" }, supports_embeddings: { type: "boolean" }, supports_streaming: { type: "boolean" }, supports_tools: { type: "boolean" }, max_context_tokens: { type: "integer", minimum: 0 }, max_output_tokens: { type: "integer", minimum: 0 }, pricing: { $ref: "Pricing" }, allowed_params: { $ref: "AllowedParams" } } } } };
var pattern14 = new RegExp("^(currency|unit|[a-z0-9_]+_per_million)$", "u");
function validate74(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate74.evaluated;
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
validate74.errors = [{ instancePath, schemaPath: "#/then/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
for (const key0 in data) {
const _errs5 = errors;
if (typeof key0 === "string") {
if (!pattern14.test(key0)) {
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
validate74.errors = vErrors;
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
validate74.errors = vErrors;
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
validate74.errors = [{ instancePath, schemaPath: "#/else/maxProperties", keyword: "maxProperties", params: { limit: 3 } }];
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
validate74.errors = vErrors;
return false;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing8;
if (data.currency === undefined && (missing8 = "currency") || data.unit === undefined && (missing8 = "unit")) {
validate74.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing8 } }];
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
validate74.errors = [{ instancePath: instancePath + "/currency", schemaPath: "#/properties/currency/const", keyword: "const", params: { allowedValue: "credits" } }];
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
validate74.errors = [{ instancePath: instancePath + "/unit", schemaPath: "PriceUnit/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data9 === "per_token" || data9 === "per_request" || data9 === "per_image" || data9 === "per_second" || data9 === "per_minute" || data9 === "per_character" || data9 === "per_operation" || data9 === "per_megapixel")) {
validate74.errors = [{ instancePath: instancePath + "/unit", schemaPath: "PriceUnit/enum", keyword: "enum", params: { allowedValues: schema41.enum } }];
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
validate74.errors = [{ instancePath: instancePath + "/input_per_million", schemaPath: "#/properties/input_per_million/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate74.errors = [{ instancePath: instancePath + "/input_per_million", schemaPath: "#/properties/input_per_million/type", keyword: "type", params: { type: "number" } }];
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
validate74.errors = [{ instancePath: instancePath + "/output_per_million", schemaPath: "#/properties/output_per_million/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate74.errors = [{ instancePath: instancePath + "/output_per_million", schemaPath: "#/properties/output_per_million/type", keyword: "type", params: { type: "number" } }];
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
validate74.errors = [{ instancePath: instancePath + "/audio_input_per_million", schemaPath: "#/properties/audio_input_per_million/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate74.errors = [{ instancePath: instancePath + "/audio_input_per_million", schemaPath: "#/properties/audio_input_per_million/type", keyword: "type", params: { type: "number" } }];
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
validate74.errors = [{ instancePath: instancePath + "/audio_output_per_million", schemaPath: "#/properties/audio_output_per_million/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate74.errors = [{ instancePath: instancePath + "/audio_output_per_million", schemaPath: "#/properties/audio_output_per_million/type", keyword: "type", params: { type: "number" } }];
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
validate74.errors = [{ instancePath: instancePath + "/image_input_per_million", schemaPath: "#/properties/image_input_per_million/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate74.errors = [{ instancePath: instancePath + "/image_input_per_million", schemaPath: "#/properties/image_input_per_million/type", keyword: "type", params: { type: "number" } }];
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
validate74.errors = [{ instancePath: instancePath + "/image_output_per_million", schemaPath: "#/properties/image_output_per_million/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate74.errors = [{ instancePath: instancePath + "/image_output_per_million", schemaPath: "#/properties/image_output_per_million/type", keyword: "type", params: { type: "number" } }];
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
validate74.errors = [{ instancePath: instancePath + "/cached_input_per_million", schemaPath: "#/properties/cached_input_per_million/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate74.errors = [{ instancePath: instancePath + "/cached_input_per_million", schemaPath: "#/properties/cached_input_per_million/type", keyword: "type", params: { type: "number" } }];
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
validate74.errors = [{ instancePath: instancePath + "/cache_write_per_million", schemaPath: "#/properties/cache_write_per_million/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate74.errors = [{ instancePath: instancePath + "/cache_write_per_million", schemaPath: "#/properties/cache_write_per_million/type", keyword: "type", params: { type: "number" } }];
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
validate74.errors = [{ instancePath: instancePath + "/cache_write_1h_per_million", schemaPath: "#/properties/cache_write_1h_per_million/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate74.errors = [{ instancePath: instancePath + "/cache_write_1h_per_million", schemaPath: "#/properties/cache_write_1h_per_million/type", keyword: "type", params: { type: "number" } }];
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
validate74.errors = [{ instancePath: instancePath + "/request_price", schemaPath: "#/properties/request_price/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate74.errors = [{ instancePath: instancePath + "/request_price", schemaPath: "#/properties/request_price/type", keyword: "type", params: { type: "number" } }];
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
validate74.errors = [{ instancePath: instancePath + "/image_price", schemaPath: "#/properties/image_price/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate74.errors = [{ instancePath: instancePath + "/image_price", schemaPath: "#/properties/image_price/type", keyword: "type", params: { type: "number" } }];
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
validate74.errors = [{ instancePath: instancePath + "/second_price", schemaPath: "#/properties/second_price/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate74.errors = [{ instancePath: instancePath + "/second_price", schemaPath: "#/properties/second_price/type", keyword: "type", params: { type: "number" } }];
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
validate74.errors = [{ instancePath: instancePath + "/minute_price", schemaPath: "#/properties/minute_price/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate74.errors = [{ instancePath: instancePath + "/minute_price", schemaPath: "#/properties/minute_price/type", keyword: "type", params: { type: "number" } }];
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
validate74.errors = [{ instancePath: instancePath + "/character_price", schemaPath: "#/properties/character_price/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate74.errors = [{ instancePath: instancePath + "/character_price", schemaPath: "#/properties/character_price/type", keyword: "type", params: { type: "number" } }];
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
validate74.errors = [{ instancePath: instancePath + "/operation_price", schemaPath: "#/properties/operation_price/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate74.errors = [{ instancePath: instancePath + "/operation_price", schemaPath: "#/properties/operation_price/type", keyword: "type", params: { type: "number" } }];
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
validate74.errors = [{ instancePath: instancePath + "/megapixel_price", schemaPath: "#/properties/megapixel_price/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate74.errors = [{ instancePath: instancePath + "/megapixel_price", schemaPath: "#/properties/megapixel_price/type", keyword: "type", params: { type: "number" } }];
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
validate74.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate74.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate74.evaluated = { dynamicProps: true, dynamicItems: false };
function validate73(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate73.evaluated;
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
validate73.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.id !== undefined) {
const _errs1 = errors;
if (typeof data.id !== "string") {
validate73.errors = [{ instancePath: instancePath + "/id", schemaPath: "#/properties/id/type", keyword: "type", params: { type: "string" } }];
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
validate73.errors = [{ instancePath: instancePath + "/object", schemaPath: "#/properties/object/const", keyword: "const", params: { allowedValue: "model" } }];
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
validate73.errors = [{ instancePath: instancePath + "/created", schemaPath: "#/properties/created/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs4) {
if (typeof data2 == "number" && isFinite(data2)) {
if (data2 < 0 || isNaN(data2)) {
validate73.errors = [{ instancePath: instancePath + "/created", schemaPath: "#/properties/created/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate73.errors = [{ instancePath: instancePath + "/owned_by", schemaPath: "#/properties/owned_by/type", keyword: "type", params: { type: "string" } }];
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
validate73.errors = [{ instancePath: instancePath + "/permission", schemaPath: "#/properties/permission/type", keyword: "type", params: { type: "array" } }];
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
validate73.errors = [{ instancePath: instancePath + "/root", schemaPath: "#/properties/root/type", keyword: "type", params: { type: "string" } }];
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
validate73.errors = [{ instancePath: instancePath + "/parent", schemaPath: "#/properties/parent/type", keyword: "type", params: { type: schema89.properties.parent.type } }];
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
validate73.errors = [{ instancePath: instancePath + "/_svc", schemaPath: "#/properties/_svc/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data7.modality !== undefined) {
let data8 = data7.modality;
const _errs16 = errors;
if (typeof data8 !== "string") {
validate73.errors = [{ instancePath: instancePath + "/_svc/modality", schemaPath: "Modality/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data8 === "text" || data8 === "image" || data8 === "audio" || data8 === "stt" || data8 === "video" || data8 === "music" || data8 === "embedding" || data8 === "upscale" || data8 === "vision" || data8 === "object_3d")) {
validate73.errors = [{ instancePath: instancePath + "/_svc/modality", schemaPath: "Modality/enum", keyword: "enum", params: { allowedValues: schema38.enum } }];
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
validate73.errors = [{ instancePath: instancePath + "/_svc/supports_chat", schemaPath: "#/properties/_svc/properties/supports_chat/type", keyword: "type", params: { type: "boolean" } }];
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
validate73.errors = [{ instancePath: instancePath + "/_svc/supports_embeddings", schemaPath: "#/properties/_svc/properties/supports_embeddings/type", keyword: "type", params: { type: "boolean" } }];
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
validate73.errors = [{ instancePath: instancePath + "/_svc/supports_streaming", schemaPath: "#/properties/_svc/properties/supports_streaming/type", keyword: "type", params: { type: "boolean" } }];
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
validate73.errors = [{ instancePath: instancePath + "/_svc/supports_tools", schemaPath: "#/properties/_svc/properties/supports_tools/type", keyword: "type", params: { type: "boolean" } }];
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
validate73.errors = [{ instancePath: instancePath + "/_svc/max_context_tokens", schemaPath: "#/properties/_svc/properties/max_context_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs27) {
if (typeof data13 == "number" && isFinite(data13)) {
if (data13 < 0 || isNaN(data13)) {
validate73.errors = [{ instancePath: instancePath + "/_svc/max_context_tokens", schemaPath: "#/properties/_svc/properties/max_context_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate73.errors = [{ instancePath: instancePath + "/_svc/max_output_tokens", schemaPath: "#/properties/_svc/properties/max_output_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs29) {
if (typeof data14 == "number" && isFinite(data14)) {
if (data14 < 0 || isNaN(data14)) {
validate73.errors = [{ instancePath: instancePath + "/_svc/max_output_tokens", schemaPath: "#/properties/_svc/properties/max_output_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
if (!validate74(data7.pricing, { instancePath: instancePath + "/_svc/pricing", parentData: data7, parentDataProperty: "pricing", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate74.errors : vErrors.concat(validate74.errors);
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
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params", schemaPath: "AllowedParams/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } }];
return false;
break;
}
}
if (_errs35 === errors) {
if (data16.max_n !== undefined) {
let data17 = data16.max_n;
const _errs36 = errors;
if (!(typeof data17 == "number" && (!(data17 % 1) && !isNaN(data17)) && isFinite(data17))) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_n", schemaPath: "AllowedParams/properties/max_n/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs36) {
if (typeof data17 == "number" && isFinite(data17)) {
if (data17 < 1 || isNaN(data17)) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_n", schemaPath: "AllowedParams/properties/max_n/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
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
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/aspect_ratios/" + i0, schemaPath: "AllowedParams/properties/aspect_ratios/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid5 = _errs40 === errors;
if (!valid5) {
break;
}
}
} else {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/aspect_ratios", schemaPath: "AllowedParams/properties/aspect_ratios/type", keyword: "type", params: { type: "array" } }];
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
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/image_sizes/" + i1, schemaPath: "AllowedParams/properties/image_sizes/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid6 = _errs44 === errors;
if (!valid6) {
break;
}
}
} else {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/image_sizes", schemaPath: "AllowedParams/properties/image_sizes/type", keyword: "type", params: { type: "array" } }];
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
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/sizes/" + i2, schemaPath: "AllowedParams/properties/sizes/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid7 = _errs48 === errors;
if (!valid7) {
break;
}
}
} else {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/sizes", schemaPath: "AllowedParams/properties/sizes/type", keyword: "type", params: { type: "array" } }];
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
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/resolutions/" + i3, schemaPath: "AllowedParams/properties/resolutions/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid8 = _errs52 === errors;
if (!valid8) {
break;
}
}
} else {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/resolutions", schemaPath: "AllowedParams/properties/resolutions/type", keyword: "type", params: { type: "array" } }];
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
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/qualities/" + i4, schemaPath: "AllowedParams/properties/qualities/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid9 = _errs56 === errors;
if (!valid9) {
break;
}
}
} else {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/qualities", schemaPath: "AllowedParams/properties/qualities/type", keyword: "type", params: { type: "array" } }];
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
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/styles/" + i5, schemaPath: "AllowedParams/properties/styles/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid10 = _errs60 === errors;
if (!valid10) {
break;
}
}
} else {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/styles", schemaPath: "AllowedParams/properties/styles/type", keyword: "type", params: { type: "array" } }];
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
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/background/" + i6, schemaPath: "AllowedParams/properties/background/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid11 = _errs64 === errors;
if (!valid11) {
break;
}
}
} else {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/background", schemaPath: "AllowedParams/properties/background/type", keyword: "type", params: { type: "array" } }];
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
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/output_formats/" + i7, schemaPath: "AllowedParams/properties/output_formats/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid12 = _errs68 === errors;
if (!valid12) {
break;
}
}
} else {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/output_formats", schemaPath: "AllowedParams/properties/output_formats/type", keyword: "type", params: { type: "array" } }];
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
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/response_formats/" + i8, schemaPath: "AllowedParams/properties/response_formats/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid13 = _errs72 === errors;
if (!valid13) {
break;
}
}
} else {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/response_formats", schemaPath: "AllowedParams/properties/response_formats/type", keyword: "type", params: { type: "array" } }];
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
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/person_generation/" + i9, schemaPath: "AllowedParams/properties/person_generation/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid14 = _errs76 === errors;
if (!valid14) {
break;
}
}
} else {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/person_generation", schemaPath: "AllowedParams/properties/person_generation/type", keyword: "type", params: { type: "array" } }];
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
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/voices/" + i10, schemaPath: "AllowedParams/properties/voices/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid15 = _errs80 === errors;
if (!valid15) {
break;
}
}
} else {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/voices", schemaPath: "AllowedParams/properties/voices/type", keyword: "type", params: { type: "array" } }];
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
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/supported_inputs/" + i11, schemaPath: "AllowedParams/properties/supported_inputs/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid16 = _errs84 === errors;
if (!valid16) {
break;
}
}
} else {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/supported_inputs", schemaPath: "AllowedParams/properties/supported_inputs/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid4 = _errs82 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.speed !== undefined) {
let data42 = data16.speed;
const _errs86 = errors;
if (errors === _errs86) {
if (data42 && typeof data42 == "object" && !Array.isArray(data42)) {
let missing2;
if (data42.min === undefined && (missing2 = "min") || data42.max === undefined && (missing2 = "max")) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/speed", schemaPath: "AllowedParams/properties/speed/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
const _errs88 = errors;
for (const key1 in data42) {
if (!(key1 === "min" || key1 === "max")) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/speed", schemaPath: "AllowedParams/properties/speed/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key1 } }];
return false;
break;
}
}
if (_errs88 === errors) {
if (data42.min !== undefined) {
let data43 = data42.min;
const _errs89 = errors;
if (errors === _errs89) {
if (typeof data43 == "number" && isFinite(data43)) {
if (data43 > 4 || isNaN(data43)) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/speed/min", schemaPath: "AllowedParams/properties/speed/properties/min/maximum", keyword: "maximum", params: { comparison: "<=", limit: 4 } }];
return false;
} else {
if (data43 < 0.25 || isNaN(data43)) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/speed/min", schemaPath: "AllowedParams/properties/speed/properties/min/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0.25 } }];
return false;
}
}
} else {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/speed/min", schemaPath: "AllowedParams/properties/speed/properties/min/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid17 = _errs89 === errors;
} else {
var valid17 = true;
}
if (valid17) {
if (data42.max !== undefined) {
let data44 = data42.max;
const _errs91 = errors;
if (errors === _errs91) {
if (typeof data44 == "number" && isFinite(data44)) {
if (data44 > 4 || isNaN(data44)) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/speed/max", schemaPath: "AllowedParams/properties/speed/properties/max/maximum", keyword: "maximum", params: { comparison: "<=", limit: 4 } }];
return false;
} else {
if (data44 < 0.25 || isNaN(data44)) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/speed/max", schemaPath: "AllowedParams/properties/speed/properties/max/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0.25 } }];
return false;
}
}
} else {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/speed/max", schemaPath: "AllowedParams/properties/speed/properties/max/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid17 = _errs91 === errors;
} else {
var valid17 = true;
}
}
}
}
} else {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/speed", schemaPath: "AllowedParams/properties/speed/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid4 = _errs86 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.accepts_voice_instructions !== undefined) {
const _errs93 = errors;
if (typeof data16.accepts_voice_instructions !== "boolean") {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/accepts_voice_instructions", schemaPath: "AllowedParams/properties/accepts_voice_instructions/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid4 = _errs93 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.requires_voice_instructions !== undefined) {
const _errs95 = errors;
if (typeof data16.requires_voice_instructions !== "boolean") {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/requires_voice_instructions", schemaPath: "AllowedParams/properties/requires_voice_instructions/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid4 = _errs95 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.durations !== undefined) {
let data47 = data16.durations;
const _errs97 = errors;
if (errors === _errs97) {
if (Array.isArray(data47)) {
var valid18 = true;
const len12 = data47.length;
for (let i12 = 0;i12 < len12; i12++) {
let data48 = data47[i12];
const _errs99 = errors;
if (!(typeof data48 == "number" && (!(data48 % 1) && !isNaN(data48)) && isFinite(data48))) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/durations/" + i12, schemaPath: "AllowedParams/properties/durations/items/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs99) {
if (typeof data48 == "number" && isFinite(data48)) {
if (data48 < 0 || isNaN(data48)) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/durations/" + i12, schemaPath: "AllowedParams/properties/durations/items/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid18 = _errs99 === errors;
if (!valid18) {
break;
}
}
} else {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/durations", schemaPath: "AllowedParams/properties/durations/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid4 = _errs97 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.default_duration !== undefined) {
let data49 = data16.default_duration;
const _errs101 = errors;
if (!(typeof data49 == "number" && (!(data49 % 1) && !isNaN(data49)) && isFinite(data49))) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/default_duration", schemaPath: "AllowedParams/properties/default_duration/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs101) {
if (typeof data49 == "number" && isFinite(data49)) {
if (data49 < 0 || isNaN(data49)) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/default_duration", schemaPath: "AllowedParams/properties/default_duration/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs101 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.max_duration_seconds !== undefined) {
let data50 = data16.max_duration_seconds;
const _errs103 = errors;
if (!(typeof data50 == "number" && (!(data50 % 1) && !isNaN(data50)) && isFinite(data50))) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_duration_seconds", schemaPath: "AllowedParams/properties/max_duration_seconds/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs103) {
if (typeof data50 == "number" && isFinite(data50)) {
if (data50 < 0 || isNaN(data50)) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_duration_seconds", schemaPath: "AllowedParams/properties/max_duration_seconds/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs103 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.default_params !== undefined) {
let data51 = data16.default_params;
const _errs105 = errors;
if (!(data51 && typeof data51 == "object" && !Array.isArray(data51))) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/default_params", schemaPath: "AllowedParams/properties/default_params/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid4 = _errs105 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.strength !== undefined) {
let data52 = data16.strength;
const _errs107 = errors;
if (errors === _errs107) {
if (data52 && typeof data52 == "object" && !Array.isArray(data52)) {
let missing3;
if (data52.min === undefined && (missing3 = "min") || data52.max === undefined && (missing3 = "max") || data52.required === undefined && (missing3 = "required")) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/strength", schemaPath: "AllowedParams/properties/strength/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
const _errs109 = errors;
for (const key2 in data52) {
if (!(key2 === "min" || key2 === "max" || key2 === "required")) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/strength", schemaPath: "AllowedParams/properties/strength/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key2 } }];
return false;
break;
}
}
if (_errs109 === errors) {
if (data52.min !== undefined) {
let data53 = data52.min;
const _errs110 = errors;
if (!(typeof data53 == "number" && isFinite(data53))) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/strength/min", schemaPath: "AllowedParams/properties/strength/properties/min/type", keyword: "type", params: { type: "number" } }];
return false;
}
var valid19 = _errs110 === errors;
} else {
var valid19 = true;
}
if (valid19) {
if (data52.max !== undefined) {
let data54 = data52.max;
const _errs112 = errors;
if (!(typeof data54 == "number" && isFinite(data54))) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/strength/max", schemaPath: "AllowedParams/properties/strength/properties/max/type", keyword: "type", params: { type: "number" } }];
return false;
}
var valid19 = _errs112 === errors;
} else {
var valid19 = true;
}
if (valid19) {
if (data52.required !== undefined) {
const _errs114 = errors;
if (typeof data52.required !== "boolean") {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/strength/required", schemaPath: "AllowedParams/properties/strength/properties/required/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid19 = _errs114 === errors;
} else {
var valid19 = true;
}
}
}
}
}
} else {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/strength", schemaPath: "AllowedParams/properties/strength/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid4 = _errs107 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.requires_input_image !== undefined) {
const _errs116 = errors;
if (typeof data16.requires_input_image !== "boolean") {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/requires_input_image", schemaPath: "AllowedParams/properties/requires_input_image/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid4 = _errs116 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.requires_input_video !== undefined) {
const _errs118 = errors;
if (typeof data16.requires_input_video !== "boolean") {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/requires_input_video", schemaPath: "AllowedParams/properties/requires_input_video/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid4 = _errs118 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.requires_input_audio !== undefined) {
const _errs120 = errors;
if (typeof data16.requires_input_audio !== "boolean") {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/requires_input_audio", schemaPath: "AllowedParams/properties/requires_input_audio/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid4 = _errs120 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.requires_input_3d !== undefined) {
const _errs122 = errors;
if (typeof data16.requires_input_3d !== "boolean") {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/requires_input_3d", schemaPath: "AllowedParams/properties/requires_input_3d/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid4 = _errs122 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.accepts_input_image !== undefined) {
const _errs124 = errors;
if (typeof data16.accepts_input_image !== "boolean") {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/accepts_input_image", schemaPath: "AllowedParams/properties/accepts_input_image/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid4 = _errs124 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.accepts_input_video !== undefined) {
const _errs126 = errors;
if (typeof data16.accepts_input_video !== "boolean") {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/accepts_input_video", schemaPath: "AllowedParams/properties/accepts_input_video/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid4 = _errs126 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.max_file_size_bytes !== undefined) {
let data62 = data16.max_file_size_bytes;
const _errs128 = errors;
if (!(typeof data62 == "number" && (!(data62 % 1) && !isNaN(data62)) && isFinite(data62))) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_file_size_bytes", schemaPath: "AllowedParams/properties/max_file_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs128) {
if (typeof data62 == "number" && isFinite(data62)) {
if (data62 < 0 || isNaN(data62)) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_file_size_bytes", schemaPath: "AllowedParams/properties/max_file_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs128 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.max_image_size_bytes !== undefined) {
let data63 = data16.max_image_size_bytes;
const _errs130 = errors;
if (!(typeof data63 == "number" && (!(data63 % 1) && !isNaN(data63)) && isFinite(data63))) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_image_size_bytes", schemaPath: "AllowedParams/properties/max_image_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs130) {
if (typeof data63 == "number" && isFinite(data63)) {
if (data63 < 0 || isNaN(data63)) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_image_size_bytes", schemaPath: "AllowedParams/properties/max_image_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs130 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.max_pdf_size_bytes !== undefined) {
let data64 = data16.max_pdf_size_bytes;
const _errs132 = errors;
if (!(typeof data64 == "number" && (!(data64 % 1) && !isNaN(data64)) && isFinite(data64))) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_pdf_size_bytes", schemaPath: "AllowedParams/properties/max_pdf_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs132) {
if (typeof data64 == "number" && isFinite(data64)) {
if (data64 < 0 || isNaN(data64)) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_pdf_size_bytes", schemaPath: "AllowedParams/properties/max_pdf_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs132 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.max_pdf_pages !== undefined) {
let data65 = data16.max_pdf_pages;
const _errs134 = errors;
if (!(typeof data65 == "number" && (!(data65 % 1) && !isNaN(data65)) && isFinite(data65))) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_pdf_pages", schemaPath: "AllowedParams/properties/max_pdf_pages/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs134) {
if (typeof data65 == "number" && isFinite(data65)) {
if (data65 < 0 || isNaN(data65)) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_pdf_pages", schemaPath: "AllowedParams/properties/max_pdf_pages/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs134 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.max_audio_size_bytes !== undefined) {
let data66 = data16.max_audio_size_bytes;
const _errs136 = errors;
if (!(typeof data66 == "number" && (!(data66 % 1) && !isNaN(data66)) && isFinite(data66))) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_audio_size_bytes", schemaPath: "AllowedParams/properties/max_audio_size_bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs136) {
if (typeof data66 == "number" && isFinite(data66)) {
if (data66 < 0 || isNaN(data66)) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_audio_size_bytes", schemaPath: "AllowedParams/properties/max_audio_size_bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs136 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.max_audio_duration_seconds !== undefined) {
let data67 = data16.max_audio_duration_seconds;
const _errs138 = errors;
if (!(typeof data67 == "number" && (!(data67 % 1) && !isNaN(data67)) && isFinite(data67))) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_audio_duration_seconds", schemaPath: "AllowedParams/properties/max_audio_duration_seconds/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs138) {
if (typeof data67 == "number" && isFinite(data67)) {
if (data67 < 0 || isNaN(data67)) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_audio_duration_seconds", schemaPath: "AllowedParams/properties/max_audio_duration_seconds/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs138 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data16.max_files !== undefined) {
let data68 = data16.max_files;
const _errs140 = errors;
if (!(typeof data68 == "number" && (!(data68 % 1) && !isNaN(data68)) && isFinite(data68))) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_files", schemaPath: "AllowedParams/properties/max_files/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs140) {
if (typeof data68 == "number" && isFinite(data68)) {
if (data68 < 0 || isNaN(data68)) {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params/max_files", schemaPath: "AllowedParams/properties/max_files/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs140 === errors;
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
}
} else {
validate73.errors = [{ instancePath: instancePath + "/_svc/allowed_params", schemaPath: "AllowedParams/type", keyword: "type", params: { type: "object" } }];
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
validate73.errors = [{ instancePath: instancePath + "/_svc", schemaPath: "#/properties/_svc/type", keyword: "type", params: { type: "object" } }];
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
validate73.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate73.errors = vErrors;
return errors === 0;
}
validate73.evaluated = { props: { id: true, object: true, created: true, owned_by: true, permission: true, root: true, parent: true, _svc: true }, dynamicProps: false, dynamicItems: false };
var validatePresetEntry = validate76;
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
if (data.name === undefined && (missing0 = "name")) {
validate76.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
const _errs1 = errors;
for (const key0 in data) {
if (!(key0 === "name" || key0 === "disabled" || key0 === "requests_per_minute" || key0 === "daily_tokens")) {
validate76.errors = [{ instancePath, schemaPath: "#/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } }];
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
validate76.errors = [{ instancePath: instancePath + "/name", schemaPath: "#/properties/name/pattern", keyword: "pattern", params: { pattern: "^[a-z0-9][a-z0-9_-]{0,63}$" } }];
return false;
}
} else {
validate76.errors = [{ instancePath: instancePath + "/name", schemaPath: "#/properties/name/type", keyword: "type", params: { type: "string" } }];
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
validate76.errors = [{ instancePath: instancePath + "/disabled", schemaPath: "#/properties/disabled/type", keyword: "type", params: { type: "boolean" } }];
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
validate76.errors = [{ instancePath: instancePath + "/requests_per_minute", schemaPath: "#/properties/requests_per_minute/type", keyword: "type", params: { type: schema36.properties.requests_per_minute.type } }];
return false;
}
if (errors === _errs6) {
if (typeof data2 == "number" && isFinite(data2)) {
if (data2 > 4095 || isNaN(data2)) {
validate76.errors = [{ instancePath: instancePath + "/requests_per_minute", schemaPath: "#/properties/requests_per_minute/maximum", keyword: "maximum", params: { comparison: "<=", limit: 4095 } }];
return false;
} else {
if (data2 < 1 || isNaN(data2)) {
validate76.errors = [{ instancePath: instancePath + "/requests_per_minute", schemaPath: "#/properties/requests_per_minute/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
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
validate76.errors = [{ instancePath: instancePath + "/daily_tokens", schemaPath: "#/properties/daily_tokens/type", keyword: "type", params: { type: schema36.properties.daily_tokens.type } }];
return false;
}
if (errors === _errs8) {
if (typeof data3 == "number" && isFinite(data3)) {
if (data3 > 9007199254740991 || isNaN(data3)) {
validate76.errors = [{ instancePath: instancePath + "/daily_tokens", schemaPath: "#/properties/daily_tokens/maximum", keyword: "maximum", params: { comparison: "<=", limit: 9007199254740991 } }];
return false;
} else {
if (data3 < 1 || isNaN(data3)) {
validate76.errors = [{ instancePath: instancePath + "/daily_tokens", schemaPath: "#/properties/daily_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
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
validate76.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate76.errors = vErrors;
return errors === 0;
}
validate76.evaluated = { props: true, dynamicProps: false, dynamicItems: false };
var validatePricing = validate74;
var validateProviderEntry = validate77;
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
let missing0;
if (data.id === undefined && (missing0 = "id")) {
validate77.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
const _errs1 = errors;
for (const key0 in data) {
if (!func1.call(schema35.properties, key0)) {
validate77.errors = [{ instancePath, schemaPath: "#/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } }];
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
validate77.errors = [{ instancePath: instancePath + "/id", schemaPath: "#/properties/id/pattern", keyword: "pattern", params: { pattern: "^[a-z0-9][a-z0-9-]{0,63}$" } }];
return false;
}
} else {
validate77.errors = [{ instancePath: instancePath + "/id", schemaPath: "#/properties/id/type", keyword: "type", params: { type: "string" } }];
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
validate77.errors = [{ instancePath: instancePath + "/disabled", schemaPath: "#/properties/disabled/type", keyword: "type", params: { type: "boolean" } }];
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
validate77.errors = [{ instancePath: instancePath + "/family", schemaPath: "#/properties/family/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data2 === "sandbox" || data2 === "openai-compatible" || data2 === "anthropic" || data2 === "gemini" || data2 === "google-cloud" || data2 === "fal" || data2 === "replicate" || data2 === "elevenlabs" || data2 === "deepgram" || data2 === "meshy" || data2 === "tripo")) {
validate77.errors = [{ instancePath: instancePath + "/family", schemaPath: "#/properties/family/enum", keyword: "enum", params: { allowedValues: schema35.properties.family.enum } }];
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
if (func3(data3) > 2000) {
validate77.errors = [{ instancePath: instancePath + "/base_url", schemaPath: "#/properties/base_url/maxLength", keyword: "maxLength", params: { limit: 2000 } }];
return false;
} else {
if (func3(data3) < 1) {
validate77.errors = [{ instancePath: instancePath + "/base_url", schemaPath: "#/properties/base_url/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate77.errors = [{ instancePath: instancePath + "/base_url", schemaPath: "#/properties/base_url/type", keyword: "type", params: { type: "string" } }];
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
validate77.errors = [{ instancePath: instancePath + "/api_key_env", schemaPath: "#/properties/api_key_env/pattern", keyword: "pattern", params: { pattern: "^[A-Z][A-Z0-9_]*_API_KEY$" } }];
return false;
}
} else {
validate77.errors = [{ instancePath: instancePath + "/api_key_env", schemaPath: "#/properties/api_key_env/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs10 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.breaker !== undefined) {
let data5 = data.breaker;
const _errs12 = errors;
if (typeof data5 !== "string") {
validate77.errors = [{ instancePath: instancePath + "/breaker", schemaPath: "#/properties/breaker/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data5 === "on" || data5 === "off")) {
validate77.errors = [{ instancePath: instancePath + "/breaker", schemaPath: "#/properties/breaker/enum", keyword: "enum", params: { allowedValues: schema35.properties.breaker.enum } }];
return false;
}
var valid0 = _errs12 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.on_disconnect !== undefined) {
let data6 = data.on_disconnect;
const _errs14 = errors;
if (typeof data6 !== "string") {
validate77.errors = [{ instancePath: instancePath + "/on_disconnect", schemaPath: "#/properties/on_disconnect/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data6 === "abort" || data6 === "drain")) {
validate77.errors = [{ instancePath: instancePath + "/on_disconnect", schemaPath: "#/properties/on_disconnect/enum", keyword: "enum", params: { allowedValues: schema35.properties.on_disconnect.enum } }];
return false;
}
var valid0 = _errs14 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.first_byte_ms !== undefined) {
let data7 = data.first_byte_ms;
const _errs16 = errors;
if (!(typeof data7 == "number" && (!(data7 % 1) && !isNaN(data7)) && isFinite(data7))) {
validate77.errors = [{ instancePath: instancePath + "/first_byte_ms", schemaPath: "#/properties/first_byte_ms/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs16) {
if (typeof data7 == "number" && isFinite(data7)) {
if (data7 > 3600000 || isNaN(data7)) {
validate77.errors = [{ instancePath: instancePath + "/first_byte_ms", schemaPath: "#/properties/first_byte_ms/maximum", keyword: "maximum", params: { comparison: "<=", limit: 3600000 } }];
return false;
} else {
if (data7 < 100 || isNaN(data7)) {
validate77.errors = [{ instancePath: instancePath + "/first_byte_ms", schemaPath: "#/properties/first_byte_ms/minimum", keyword: "minimum", params: { comparison: ">=", limit: 100 } }];
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
if (data.media !== undefined) {
let data8 = data.media;
const _errs18 = errors;
if (typeof data8 !== "string") {
validate77.errors = [{ instancePath: instancePath + "/media", schemaPath: "#/properties/media/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data8 === "inline" || data8 === "pass")) {
validate77.errors = [{ instancePath: instancePath + "/media", schemaPath: "#/properties/media/enum", keyword: "enum", params: { allowedValues: schema35.properties.media.enum } }];
return false;
}
var valid0 = _errs18 === errors;
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
} else {
validate77.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate77.errors = vErrors;
return errors === 0;
}
validate77.evaluated = { props: true, dynamicProps: false, dynamicItems: false };
var validateChatCompletionRequest = validate78;
var schema96 = { type: "object", required: ["model", "messages"], properties: { model: { type: "string", minLength: 1, maxLength: 200 }, messages: { type: "array", minItems: 1, items: { $ref: "ChatMessage" } }, stream: { type: ["boolean", "null"] }, stream_options: { type: ["object", "null"], properties: { include_usage: { type: "boolean" }, include_obfuscation: { type: "boolean" } } }, max_completion_tokens: { type: ["integer", "null"], minimum: 1, maximum: 2147483647 }, max_tokens: { type: ["integer", "null"], minimum: 1, maximum: 2147483647 }, temperature: { type: ["number", "null"], minimum: 0, maximum: 2 }, top_p: { type: ["number", "null"], minimum: 0, maximum: 1 }, n: { type: ["integer", "null"], minimum: 1, maximum: 128 }, stop: { type: ["string", "array", "null"], maxItems: 16, items: { type: "string" } }, frequency_penalty: { type: ["number", "null"], minimum: -2, maximum: 2 }, presence_penalty: { type: ["number", "null"], minimum: -2, maximum: 2 }, logit_bias: { type: ["object", "null"], additionalProperties: { type: "number", minimum: -100, maximum: 100 } }, logprobs: { type: ["boolean", "null"] }, top_logprobs: { type: ["integer", "null"], minimum: 0, maximum: 20 }, seed: { type: ["integer", "null"], minimum: -9223372036854776000, maximum: 9223372036854776000 }, tools: { type: "array", items: { $ref: "ChatTool" } }, tool_choice: { $ref: "ToolChoice" }, parallel_tool_calls: { type: "boolean" }, response_format: { $ref: "ResponseFormat" }, reasoning_effort: { type: ["string", "null"], maxLength: 40 }, verbosity: { enum: ["low", "medium", "high", null] }, modalities: { type: ["array", "null"], items: { enum: ["text", "audio"] } }, audio: { type: ["object", "null"], required: ["voice", "format"], properties: { voice: { type: ["string", "object"], required: ["id"], properties: { id: { type: "string" } } }, format: { enum: ["wav", "aac", "mp3", "flac", "opus", "pcm16"] } } }, prediction: { type: ["object", "null"], required: ["type", "content"], properties: { type: { const: "content" }, content: { type: ["string", "array"], minItems: 1, items: { $ref: "TextOnlyBlock" } } } }, web_search_options: { type: "object", properties: { search_context_size: { enum: ["low", "medium", "high"] }, user_location: { type: ["object", "null"], required: ["type", "approximate"], properties: { type: { const: "approximate" }, approximate: { type: "object", properties: { country: { type: "string" }, region: { type: "string" }, city: { type: "string" }, timezone: { type: "string" } } } } } } }, service_tier: { type: ["string", "null"] }, store: { type: ["boolean", "null"] }, metadata: { type: ["object", "null"], additionalProperties: { type: "string" } }, user: { type: "string" }, safety_identifier: { type: ["string", "null"] }, prompt_cache_key: { type: ["string", "null"] }, functions: { type: "array", items: { type: "object", required: ["name"], properties: { name: { type: "string" } } } }, function_call: { type: ["string", "object"], required: ["name"], properties: { name: { type: "string" } } } } };
var schema98 = { type: "string", enum: ["none", "auto", "required"] };
var schema99 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["function", "custom", "allowed_tools"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "FunctionToolChoice" }, { $ref: "CustomToolChoice" }, { $ref: "AllowedToolsChoice" }] }] };
var schema102 = { type: "object", required: ["type", "allowed_tools"], properties: { type: { const: "allowed_tools" }, allowed_tools: { type: "object", required: ["mode", "tools"], properties: { mode: { enum: ["auto", "required"] }, tools: { type: "array", items: { type: "object" } } } } } };
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
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate82.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate82.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate82.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "function" || data0 === "custom" || data0 === "allowed_tools")) {
validate82.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema99.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate82.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
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
validate82.errors = [{ instancePath, schemaPath: "FunctionToolChoice/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs11 = errors;
if (data.type !== "function") {
validate82.errors = [{ instancePath: instancePath + "/type", schemaPath: "FunctionToolChoice/properties/type/const", keyword: "const", params: { allowedValue: "function" } }];
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
validate82.errors = [{ instancePath: instancePath + "/function", schemaPath: "FunctionToolChoice/properties/function/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data2.name !== undefined) {
if (typeof data2.name !== "string") {
validate82.errors = [{ instancePath: instancePath + "/function/name", schemaPath: "FunctionToolChoice/properties/function/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
} else {
validate82.errors = [{ instancePath: instancePath + "/function", schemaPath: "FunctionToolChoice/properties/function/type", keyword: "type", params: { type: "object" } }];
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
validate82.errors = [{ instancePath, schemaPath: "FunctionToolChoice/type", keyword: "type", params: { type: "object" } }];
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
validate82.errors = [{ instancePath, schemaPath: "CustomToolChoice/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs19 = errors;
if (data.type !== "custom") {
validate82.errors = [{ instancePath: instancePath + "/type", schemaPath: "CustomToolChoice/properties/type/const", keyword: "const", params: { allowedValue: "custom" } }];
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
validate82.errors = [{ instancePath: instancePath + "/custom", schemaPath: "CustomToolChoice/properties/custom/required", keyword: "required", params: { missingProperty: missing4 } }];
return false;
} else {
if (data5.name !== undefined) {
if (typeof data5.name !== "string") {
validate82.errors = [{ instancePath: instancePath + "/custom/name", schemaPath: "CustomToolChoice/properties/custom/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
} else {
validate82.errors = [{ instancePath: instancePath + "/custom", schemaPath: "CustomToolChoice/properties/custom/type", keyword: "type", params: { type: "object" } }];
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
validate82.errors = [{ instancePath, schemaPath: "CustomToolChoice/type", keyword: "type", params: { type: "object" } }];
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
validate82.errors = [{ instancePath, schemaPath: "AllowedToolsChoice/required", keyword: "required", params: { missingProperty: missing5 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs27 = errors;
if (data.type !== "allowed_tools") {
validate82.errors = [{ instancePath: instancePath + "/type", schemaPath: "AllowedToolsChoice/properties/type/const", keyword: "const", params: { allowedValue: "allowed_tools" } }];
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
validate82.errors = [{ instancePath: instancePath + "/allowed_tools", schemaPath: "AllowedToolsChoice/properties/allowed_tools/required", keyword: "required", params: { missingProperty: missing6 } }];
return false;
} else {
if (data8.mode !== undefined) {
let data9 = data8.mode;
const _errs30 = errors;
if (!(data9 === "auto" || data9 === "required")) {
validate82.errors = [{ instancePath: instancePath + "/allowed_tools/mode", schemaPath: "AllowedToolsChoice/properties/allowed_tools/properties/mode/enum", keyword: "enum", params: { allowedValues: schema102.properties.allowed_tools.properties.mode.enum } }];
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
validate82.errors = [{ instancePath: instancePath + "/allowed_tools/tools/" + i0, schemaPath: "AllowedToolsChoice/properties/allowed_tools/properties/tools/items/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid15 = _errs33 === errors;
if (!valid15) {
break;
}
}
} else {
validate82.errors = [{ instancePath: instancePath + "/allowed_tools/tools", schemaPath: "AllowedToolsChoice/properties/allowed_tools/properties/tools/type", keyword: "type", params: { type: "array" } }];
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
validate82.errors = [{ instancePath: instancePath + "/allowed_tools", schemaPath: "AllowedToolsChoice/properties/allowed_tools/type", keyword: "type", params: { type: "object" } }];
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
validate82.errors = [{ instancePath, schemaPath: "AllowedToolsChoice/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.allowed_tools = true;
}
} else {
validate82.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate82.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate82.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
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
validate82.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate82.evaluated = { dynamicProps: true, dynamicItems: false };
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
const err1 = { instancePath, schemaPath: "ToolChoiceMode/enum", keyword: "enum", params: { allowedValues: schema98.enum } };
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
if (!validate82(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate82.errors : vErrors.concat(validate82.errors);
errors = vErrors.length;
} else {
var props0 = validate82.evaluated.props;
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
validate81.errors = vErrors;
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
validate81.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate81.evaluated = { dynamicProps: true, dynamicItems: false };
var schema103 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["text", "json_object", "json_schema"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "TextFormat" }, { $ref: "JsonObjectFormat" }, { $ref: "JsonSchemaFormat" }] }] };
var schema106 = { type: "object", required: ["type", "json_schema"], properties: { type: { const: "json_schema" }, json_schema: { type: "object", required: ["name"], properties: { name: { type: "string", pattern: "^[a-zA-Z0-9_-]{1,64}$" }, description: { type: "string" }, schema: { type: "object" }, strict: { type: ["boolean", "null"] } } } } };
function validate85(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate85.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate85.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate85.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate85.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "text" || data0 === "json_object" || data0 === "json_schema")) {
validate85.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema103.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate85.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
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
validate85.errors = [{ instancePath, schemaPath: "TextFormat/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data.type !== undefined) {
if (data.type !== "text") {
validate85.errors = [{ instancePath: instancePath + "/type", schemaPath: "TextFormat/properties/type/const", keyword: "const", params: { allowedValue: "text" } }];
return false;
}
}
}
} else {
validate85.errors = [{ instancePath, schemaPath: "TextFormat/type", keyword: "type", params: { type: "object" } }];
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
validate85.errors = [{ instancePath, schemaPath: "JsonObjectFormat/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data.type !== undefined) {
if (data.type !== "json_object") {
validate85.errors = [{ instancePath: instancePath + "/type", schemaPath: "JsonObjectFormat/properties/type/const", keyword: "const", params: { allowedValue: "json_object" } }];
return false;
}
}
}
} else {
validate85.errors = [{ instancePath, schemaPath: "JsonObjectFormat/type", keyword: "type", params: { type: "object" } }];
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
validate85.errors = [{ instancePath, schemaPath: "JsonSchemaFormat/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs19 = errors;
if (data.type !== "json_schema") {
validate85.errors = [{ instancePath: instancePath + "/type", schemaPath: "JsonSchemaFormat/properties/type/const", keyword: "const", params: { allowedValue: "json_schema" } }];
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
validate85.errors = [{ instancePath: instancePath + "/json_schema", schemaPath: "JsonSchemaFormat/properties/json_schema/required", keyword: "required", params: { missingProperty: missing4 } }];
return false;
} else {
if (data4.name !== undefined) {
let data5 = data4.name;
const _errs22 = errors;
if (errors === _errs22) {
if (typeof data5 === "string") {
if (!pattern10.test(data5)) {
validate85.errors = [{ instancePath: instancePath + "/json_schema/name", schemaPath: "JsonSchemaFormat/properties/json_schema/properties/name/pattern", keyword: "pattern", params: { pattern: "^[a-zA-Z0-9_-]{1,64}$" } }];
return false;
}
} else {
validate85.errors = [{ instancePath: instancePath + "/json_schema/name", schemaPath: "JsonSchemaFormat/properties/json_schema/properties/name/type", keyword: "type", params: { type: "string" } }];
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
validate85.errors = [{ instancePath: instancePath + "/json_schema/description", schemaPath: "JsonSchemaFormat/properties/json_schema/properties/description/type", keyword: "type", params: { type: "string" } }];
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
validate85.errors = [{ instancePath: instancePath + "/json_schema/schema", schemaPath: "JsonSchemaFormat/properties/json_schema/properties/schema/type", keyword: "type", params: { type: "object" } }];
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
validate85.errors = [{ instancePath: instancePath + "/json_schema/strict", schemaPath: "JsonSchemaFormat/properties/json_schema/properties/strict/type", keyword: "type", params: { type: schema106.properties.json_schema.properties.strict.type } }];
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
validate85.errors = [{ instancePath: instancePath + "/json_schema", schemaPath: "JsonSchemaFormat/properties/json_schema/type", keyword: "type", params: { type: "object" } }];
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
validate85.errors = [{ instancePath, schemaPath: "JsonSchemaFormat/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.json_schema = true;
}
} else {
validate85.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate85.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate85.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
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
validate85.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate85.evaluated = { dynamicProps: true, dynamicItems: false };
function validate78(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate78.evaluated;
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
validate78.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.model !== undefined) {
let data0 = data.model;
const _errs1 = errors;
if (errors === _errs1) {
if (typeof data0 === "string") {
if (func3(data0) > 200) {
validate78.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/maxLength", keyword: "maxLength", params: { limit: 200 } }];
return false;
} else {
if (func3(data0) < 1) {
validate78.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate78.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
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
validate78.errors = [{ instancePath: instancePath + "/messages", schemaPath: "#/properties/messages/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid1 = true;
const len0 = data1.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs5 = errors;
if (!validate32(data1[i0], { instancePath: instancePath + "/messages/" + i0, parentData: data1, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate32.errors : vErrors.concat(validate32.errors);
errors = vErrors.length;
}
var valid1 = _errs5 === errors;
if (!valid1) {
break;
}
}
}
} else {
validate78.errors = [{ instancePath: instancePath + "/messages", schemaPath: "#/properties/messages/type", keyword: "type", params: { type: "array" } }];
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
validate78.errors = [{ instancePath: instancePath + "/stream", schemaPath: "#/properties/stream/type", keyword: "type", params: { type: schema96.properties.stream.type } }];
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
validate78.errors = [{ instancePath: instancePath + "/stream_options", schemaPath: "#/properties/stream_options/type", keyword: "type", params: { type: schema96.properties.stream_options.type } }];
return false;
}
if (errors === _errs8) {
if (data4 && typeof data4 == "object" && !Array.isArray(data4)) {
if (data4.include_usage !== undefined) {
const _errs10 = errors;
if (typeof data4.include_usage !== "boolean") {
validate78.errors = [{ instancePath: instancePath + "/stream_options/include_usage", schemaPath: "#/properties/stream_options/properties/include_usage/type", keyword: "type", params: { type: "boolean" } }];
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
validate78.errors = [{ instancePath: instancePath + "/stream_options/include_obfuscation", schemaPath: "#/properties/stream_options/properties/include_obfuscation/type", keyword: "type", params: { type: "boolean" } }];
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
validate78.errors = [{ instancePath: instancePath + "/max_completion_tokens", schemaPath: "#/properties/max_completion_tokens/type", keyword: "type", params: { type: schema96.properties.max_completion_tokens.type } }];
return false;
}
if (errors === _errs14) {
if (typeof data7 == "number" && isFinite(data7)) {
if (data7 > 2147483647 || isNaN(data7)) {
validate78.errors = [{ instancePath: instancePath + "/max_completion_tokens", schemaPath: "#/properties/max_completion_tokens/maximum", keyword: "maximum", params: { comparison: "<=", limit: 2147483647 } }];
return false;
} else {
if (data7 < 1 || isNaN(data7)) {
validate78.errors = [{ instancePath: instancePath + "/max_completion_tokens", schemaPath: "#/properties/max_completion_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
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
validate78.errors = [{ instancePath: instancePath + "/max_tokens", schemaPath: "#/properties/max_tokens/type", keyword: "type", params: { type: schema96.properties.max_tokens.type } }];
return false;
}
if (errors === _errs16) {
if (typeof data8 == "number" && isFinite(data8)) {
if (data8 > 2147483647 || isNaN(data8)) {
validate78.errors = [{ instancePath: instancePath + "/max_tokens", schemaPath: "#/properties/max_tokens/maximum", keyword: "maximum", params: { comparison: "<=", limit: 2147483647 } }];
return false;
} else {
if (data8 < 1 || isNaN(data8)) {
validate78.errors = [{ instancePath: instancePath + "/max_tokens", schemaPath: "#/properties/max_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
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
validate78.errors = [{ instancePath: instancePath + "/temperature", schemaPath: "#/properties/temperature/type", keyword: "type", params: { type: schema96.properties.temperature.type } }];
return false;
}
if (errors === _errs18) {
if (typeof data9 == "number" && isFinite(data9)) {
if (data9 > 2 || isNaN(data9)) {
validate78.errors = [{ instancePath: instancePath + "/temperature", schemaPath: "#/properties/temperature/maximum", keyword: "maximum", params: { comparison: "<=", limit: 2 } }];
return false;
} else {
if (data9 < 0 || isNaN(data9)) {
validate78.errors = [{ instancePath: instancePath + "/temperature", schemaPath: "#/properties/temperature/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate78.errors = [{ instancePath: instancePath + "/top_p", schemaPath: "#/properties/top_p/type", keyword: "type", params: { type: schema96.properties.top_p.type } }];
return false;
}
if (errors === _errs20) {
if (typeof data10 == "number" && isFinite(data10)) {
if (data10 > 1 || isNaN(data10)) {
validate78.errors = [{ instancePath: instancePath + "/top_p", schemaPath: "#/properties/top_p/maximum", keyword: "maximum", params: { comparison: "<=", limit: 1 } }];
return false;
} else {
if (data10 < 0 || isNaN(data10)) {
validate78.errors = [{ instancePath: instancePath + "/top_p", schemaPath: "#/properties/top_p/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate78.errors = [{ instancePath: instancePath + "/n", schemaPath: "#/properties/n/type", keyword: "type", params: { type: schema96.properties.n.type } }];
return false;
}
if (errors === _errs22) {
if (typeof data11 == "number" && isFinite(data11)) {
if (data11 > 128 || isNaN(data11)) {
validate78.errors = [{ instancePath: instancePath + "/n", schemaPath: "#/properties/n/maximum", keyword: "maximum", params: { comparison: "<=", limit: 128 } }];
return false;
} else {
if (data11 < 1 || isNaN(data11)) {
validate78.errors = [{ instancePath: instancePath + "/n", schemaPath: "#/properties/n/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
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
validate78.errors = [{ instancePath: instancePath + "/stop", schemaPath: "#/properties/stop/type", keyword: "type", params: { type: schema96.properties.stop.type } }];
return false;
}
if (errors === _errs24) {
if (Array.isArray(data12)) {
if (data12.length > 16) {
validate78.errors = [{ instancePath: instancePath + "/stop", schemaPath: "#/properties/stop/maxItems", keyword: "maxItems", params: { limit: 16 } }];
return false;
} else {
var valid3 = true;
const len1 = data12.length;
for (let i1 = 0;i1 < len1; i1++) {
const _errs26 = errors;
if (typeof data12[i1] !== "string") {
validate78.errors = [{ instancePath: instancePath + "/stop/" + i1, schemaPath: "#/properties/stop/items/type", keyword: "type", params: { type: "string" } }];
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
validate78.errors = [{ instancePath: instancePath + "/frequency_penalty", schemaPath: "#/properties/frequency_penalty/type", keyword: "type", params: { type: schema96.properties.frequency_penalty.type } }];
return false;
}
if (errors === _errs28) {
if (typeof data14 == "number" && isFinite(data14)) {
if (data14 > 2 || isNaN(data14)) {
validate78.errors = [{ instancePath: instancePath + "/frequency_penalty", schemaPath: "#/properties/frequency_penalty/maximum", keyword: "maximum", params: { comparison: "<=", limit: 2 } }];
return false;
} else {
if (data14 < -2 || isNaN(data14)) {
validate78.errors = [{ instancePath: instancePath + "/frequency_penalty", schemaPath: "#/properties/frequency_penalty/minimum", keyword: "minimum", params: { comparison: ">=", limit: -2 } }];
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
validate78.errors = [{ instancePath: instancePath + "/presence_penalty", schemaPath: "#/properties/presence_penalty/type", keyword: "type", params: { type: schema96.properties.presence_penalty.type } }];
return false;
}
if (errors === _errs30) {
if (typeof data15 == "number" && isFinite(data15)) {
if (data15 > 2 || isNaN(data15)) {
validate78.errors = [{ instancePath: instancePath + "/presence_penalty", schemaPath: "#/properties/presence_penalty/maximum", keyword: "maximum", params: { comparison: "<=", limit: 2 } }];
return false;
} else {
if (data15 < -2 || isNaN(data15)) {
validate78.errors = [{ instancePath: instancePath + "/presence_penalty", schemaPath: "#/properties/presence_penalty/minimum", keyword: "minimum", params: { comparison: ">=", limit: -2 } }];
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
validate78.errors = [{ instancePath: instancePath + "/logit_bias", schemaPath: "#/properties/logit_bias/type", keyword: "type", params: { type: schema96.properties.logit_bias.type } }];
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
validate78.errors = [{ instancePath: instancePath + "/logit_bias/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/logit_bias/additionalProperties/maximum", keyword: "maximum", params: { comparison: "<=", limit: 100 } }];
return false;
} else {
if (data17 < -100 || isNaN(data17)) {
validate78.errors = [{ instancePath: instancePath + "/logit_bias/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/logit_bias/additionalProperties/minimum", keyword: "minimum", params: { comparison: ">=", limit: -100 } }];
return false;
}
}
} else {
validate78.errors = [{ instancePath: instancePath + "/logit_bias/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/logit_bias/additionalProperties/type", keyword: "type", params: { type: "number" } }];
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
validate78.errors = [{ instancePath: instancePath + "/logprobs", schemaPath: "#/properties/logprobs/type", keyword: "type", params: { type: schema96.properties.logprobs.type } }];
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
validate78.errors = [{ instancePath: instancePath + "/top_logprobs", schemaPath: "#/properties/top_logprobs/type", keyword: "type", params: { type: schema96.properties.top_logprobs.type } }];
return false;
}
if (errors === _errs39) {
if (typeof data19 == "number" && isFinite(data19)) {
if (data19 > 20 || isNaN(data19)) {
validate78.errors = [{ instancePath: instancePath + "/top_logprobs", schemaPath: "#/properties/top_logprobs/maximum", keyword: "maximum", params: { comparison: "<=", limit: 20 } }];
return false;
} else {
if (data19 < 0 || isNaN(data19)) {
validate78.errors = [{ instancePath: instancePath + "/top_logprobs", schemaPath: "#/properties/top_logprobs/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate78.errors = [{ instancePath: instancePath + "/seed", schemaPath: "#/properties/seed/type", keyword: "type", params: { type: schema96.properties.seed.type } }];
return false;
}
if (errors === _errs41) {
if (typeof data20 == "number" && isFinite(data20)) {
if (data20 > 9223372036854776000 || isNaN(data20)) {
validate78.errors = [{ instancePath: instancePath + "/seed", schemaPath: "#/properties/seed/maximum", keyword: "maximum", params: { comparison: "<=", limit: 9223372036854776000 } }];
return false;
} else {
if (data20 < -9223372036854776000 || isNaN(data20)) {
validate78.errors = [{ instancePath: instancePath + "/seed", schemaPath: "#/properties/seed/minimum", keyword: "minimum", params: { comparison: ">=", limit: -9223372036854776000 } }];
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
if (!validate53(data21[i2], { instancePath: instancePath + "/tools/" + i2, parentData: data21, parentDataProperty: i2, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate53.errors : vErrors.concat(validate53.errors);
errors = vErrors.length;
}
var valid5 = _errs45 === errors;
if (!valid5) {
break;
}
}
} else {
validate78.errors = [{ instancePath: instancePath + "/tools", schemaPath: "#/properties/tools/type", keyword: "type", params: { type: "array" } }];
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
if (!validate81(data.tool_choice, { instancePath: instancePath + "/tool_choice", parentData: data, parentDataProperty: "tool_choice", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate81.errors : vErrors.concat(validate81.errors);
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
validate78.errors = [{ instancePath: instancePath + "/parallel_tool_calls", schemaPath: "#/properties/parallel_tool_calls/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs47 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.response_format !== undefined) {
const _errs49 = errors;
if (!validate85(data.response_format, { instancePath: instancePath + "/response_format", parentData: data, parentDataProperty: "response_format", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate85.errors : vErrors.concat(validate85.errors);
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
validate78.errors = [{ instancePath: instancePath + "/reasoning_effort", schemaPath: "#/properties/reasoning_effort/type", keyword: "type", params: { type: schema96.properties.reasoning_effort.type } }];
return false;
}
if (errors === _errs50) {
if (typeof data26 === "string") {
if (func3(data26) > 40) {
validate78.errors = [{ instancePath: instancePath + "/reasoning_effort", schemaPath: "#/properties/reasoning_effort/maxLength", keyword: "maxLength", params: { limit: 40 } }];
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
validate78.errors = [{ instancePath: instancePath + "/verbosity", schemaPath: "#/properties/verbosity/enum", keyword: "enum", params: { allowedValues: schema96.properties.verbosity.enum } }];
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
validate78.errors = [{ instancePath: instancePath + "/modalities", schemaPath: "#/properties/modalities/type", keyword: "type", params: { type: schema96.properties.modalities.type } }];
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
validate78.errors = [{ instancePath: instancePath + "/modalities/" + i3, schemaPath: "#/properties/modalities/items/enum", keyword: "enum", params: { allowedValues: schema96.properties.modalities.items.enum } }];
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
validate78.errors = [{ instancePath: instancePath + "/audio", schemaPath: "#/properties/audio/type", keyword: "type", params: { type: schema96.properties.audio.type } }];
return false;
}
if (errors === _errs56) {
if (data30 && typeof data30 == "object" && !Array.isArray(data30)) {
let missing1;
if (data30.voice === undefined && (missing1 = "voice") || data30.format === undefined && (missing1 = "format")) {
validate78.errors = [{ instancePath: instancePath + "/audio", schemaPath: "#/properties/audio/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data30.voice !== undefined) {
let data31 = data30.voice;
const _errs58 = errors;
if (typeof data31 !== "string" && !(data31 && typeof data31 == "object" && !Array.isArray(data31))) {
validate78.errors = [{ instancePath: instancePath + "/audio/voice", schemaPath: "#/properties/audio/properties/voice/type", keyword: "type", params: { type: schema96.properties.audio.properties.voice.type } }];
return false;
}
if (errors === _errs58) {
if (data31 && typeof data31 == "object" && !Array.isArray(data31)) {
let missing2;
if (data31.id === undefined && (missing2 = "id")) {
validate78.errors = [{ instancePath: instancePath + "/audio/voice", schemaPath: "#/properties/audio/properties/voice/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data31.id !== undefined) {
if (typeof data31.id !== "string") {
validate78.errors = [{ instancePath: instancePath + "/audio/voice/id", schemaPath: "#/properties/audio/properties/voice/properties/id/type", keyword: "type", params: { type: "string" } }];
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
validate78.errors = [{ instancePath: instancePath + "/audio/format", schemaPath: "#/properties/audio/properties/format/enum", keyword: "enum", params: { allowedValues: schema96.properties.audio.properties.format.enum } }];
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
validate78.errors = [{ instancePath: instancePath + "/prediction", schemaPath: "#/properties/prediction/type", keyword: "type", params: { type: schema96.properties.prediction.type } }];
return false;
}
if (errors === _errs63) {
if (data34 && typeof data34 == "object" && !Array.isArray(data34)) {
let missing3;
if (data34.type === undefined && (missing3 = "type") || data34.content === undefined && (missing3 = "content")) {
validate78.errors = [{ instancePath: instancePath + "/prediction", schemaPath: "#/properties/prediction/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data34.type !== undefined) {
const _errs65 = errors;
if (data34.type !== "content") {
validate78.errors = [{ instancePath: instancePath + "/prediction/type", schemaPath: "#/properties/prediction/properties/type/const", keyword: "const", params: { allowedValue: "content" } }];
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
validate78.errors = [{ instancePath: instancePath + "/prediction/content", schemaPath: "#/properties/prediction/properties/content/type", keyword: "type", params: { type: schema96.properties.prediction.properties.content.type } }];
return false;
}
if (errors === _errs66) {
if (Array.isArray(data36)) {
if (data36.length < 1) {
validate78.errors = [{ instancePath: instancePath + "/prediction/content", schemaPath: "#/properties/prediction/properties/content/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid10 = true;
const len4 = data36.length;
for (let i4 = 0;i4 < len4; i4++) {
const _errs68 = errors;
if (!validate34(data36[i4], { instancePath: instancePath + "/prediction/content/" + i4, parentData: data36, parentDataProperty: i4, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate34.errors : vErrors.concat(validate34.errors);
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
validate78.errors = [{ instancePath: instancePath + "/web_search_options/search_context_size", schemaPath: "#/properties/web_search_options/properties/search_context_size/enum", keyword: "enum", params: { allowedValues: schema96.properties.web_search_options.properties.search_context_size.enum } }];
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
validate78.errors = [{ instancePath: instancePath + "/web_search_options/user_location", schemaPath: "#/properties/web_search_options/properties/user_location/type", keyword: "type", params: { type: schema96.properties.web_search_options.properties.user_location.type } }];
return false;
}
if (errors === _errs72) {
if (data40 && typeof data40 == "object" && !Array.isArray(data40)) {
let missing4;
if (data40.type === undefined && (missing4 = "type") || data40.approximate === undefined && (missing4 = "approximate")) {
validate78.errors = [{ instancePath: instancePath + "/web_search_options/user_location", schemaPath: "#/properties/web_search_options/properties/user_location/required", keyword: "required", params: { missingProperty: missing4 } }];
return false;
} else {
if (data40.type !== undefined) {
const _errs74 = errors;
if (data40.type !== "approximate") {
validate78.errors = [{ instancePath: instancePath + "/web_search_options/user_location/type", schemaPath: "#/properties/web_search_options/properties/user_location/properties/type/const", keyword: "const", params: { allowedValue: "approximate" } }];
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
validate78.errors = [{ instancePath: instancePath + "/web_search_options/user_location/approximate/country", schemaPath: "#/properties/web_search_options/properties/user_location/properties/approximate/properties/country/type", keyword: "type", params: { type: "string" } }];
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
validate78.errors = [{ instancePath: instancePath + "/web_search_options/user_location/approximate/region", schemaPath: "#/properties/web_search_options/properties/user_location/properties/approximate/properties/region/type", keyword: "type", params: { type: "string" } }];
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
validate78.errors = [{ instancePath: instancePath + "/web_search_options/user_location/approximate/city", schemaPath: "#/properties/web_search_options/properties/user_location/properties/approximate/properties/city/type", keyword: "type", params: { type: "string" } }];
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
validate78.errors = [{ instancePath: instancePath + "/web_search_options/user_location/approximate/timezone", schemaPath: "#/properties/web_search_options/properties/user_location/properties/approximate/properties/timezone/type", keyword: "type", params: { type: "string" } }];
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
validate78.errors = [{ instancePath: instancePath + "/web_search_options/user_location/approximate", schemaPath: "#/properties/web_search_options/properties/user_location/properties/approximate/type", keyword: "type", params: { type: "object" } }];
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
validate78.errors = [{ instancePath: instancePath + "/web_search_options", schemaPath: "#/properties/web_search_options/type", keyword: "type", params: { type: "object" } }];
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
validate78.errors = [{ instancePath: instancePath + "/service_tier", schemaPath: "#/properties/service_tier/type", keyword: "type", params: { type: schema96.properties.service_tier.type } }];
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
validate78.errors = [{ instancePath: instancePath + "/store", schemaPath: "#/properties/store/type", keyword: "type", params: { type: schema96.properties.store.type } }];
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
validate78.errors = [{ instancePath: instancePath + "/metadata", schemaPath: "#/properties/metadata/type", keyword: "type", params: { type: schema96.properties.metadata.type } }];
return false;
}
if (errors === _errs89) {
if (data49 && typeof data49 == "object" && !Array.isArray(data49)) {
for (const key1 in data49) {
const _errs92 = errors;
if (typeof data49[key1] !== "string") {
validate78.errors = [{ instancePath: instancePath + "/metadata/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/metadata/additionalProperties/type", keyword: "type", params: { type: "string" } }];
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
validate78.errors = [{ instancePath: instancePath + "/user", schemaPath: "#/properties/user/type", keyword: "type", params: { type: "string" } }];
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
validate78.errors = [{ instancePath: instancePath + "/safety_identifier", schemaPath: "#/properties/safety_identifier/type", keyword: "type", params: { type: schema96.properties.safety_identifier.type } }];
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
validate78.errors = [{ instancePath: instancePath + "/prompt_cache_key", schemaPath: "#/properties/prompt_cache_key/type", keyword: "type", params: { type: schema96.properties.prompt_cache_key.type } }];
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
validate78.errors = [{ instancePath: instancePath + "/functions/" + i5, schemaPath: "#/properties/functions/items/required", keyword: "required", params: { missingProperty: missing5 } }];
return false;
} else {
if (data55.name !== undefined) {
if (typeof data55.name !== "string") {
validate78.errors = [{ instancePath: instancePath + "/functions/" + i5 + "/name", schemaPath: "#/properties/functions/items/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
} else {
validate78.errors = [{ instancePath: instancePath + "/functions/" + i5, schemaPath: "#/properties/functions/items/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid15 = _errs102 === errors;
if (!valid15) {
break;
}
}
} else {
validate78.errors = [{ instancePath: instancePath + "/functions", schemaPath: "#/properties/functions/type", keyword: "type", params: { type: "array" } }];
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
validate78.errors = [{ instancePath: instancePath + "/function_call", schemaPath: "#/properties/function_call/type", keyword: "type", params: { type: schema96.properties.function_call.type } }];
return false;
}
if (errors === _errs106) {
if (data57 && typeof data57 == "object" && !Array.isArray(data57)) {
let missing6;
if (data57.name === undefined && (missing6 = "name")) {
validate78.errors = [{ instancePath: instancePath + "/function_call", schemaPath: "#/properties/function_call/required", keyword: "required", params: { missingProperty: missing6 } }];
return false;
} else {
if (data57.name !== undefined) {
if (typeof data57.name !== "string") {
validate78.errors = [{ instancePath: instancePath + "/function_call/name", schemaPath: "#/properties/function_call/properties/name/type", keyword: "type", params: { type: "string" } }];
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
validate78.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate78.errors = vErrors;
return errors === 0;
}
validate78.evaluated = { props: { model: true, messages: true, stream: true, stream_options: true, max_completion_tokens: true, max_tokens: true, temperature: true, top_p: true, n: true, stop: true, frequency_penalty: true, presence_penalty: true, logit_bias: true, logprobs: true, top_logprobs: true, seed: true, tools: true, tool_choice: true, parallel_tool_calls: true, response_format: true, reasoning_effort: true, verbosity: true, modalities: true, audio: true, prediction: true, web_search_options: true, service_tier: true, store: true, metadata: true, user: true, safety_identifier: true, prompt_cache_key: true, functions: true, function_call: true }, dynamicProps: false, dynamicItems: false };
var validateCountTokensRequest = validate88;
var schema146 = { type: ["object", "null"], required: ["type"], properties: { type: { enum: ["auto", "any", "tool", "none"] }, name: { type: "string" }, disable_parallel_tool_use: { type: ["boolean", "null"] } } };
var schema147 = { type: ["object", "null"], required: ["type"], properties: { type: { enum: ["enabled", "adaptive", "disabled"] }, budget_tokens: { type: ["integer", "null"], minimum: 1 } } };
var schema148 = { type: ["object", "null"], properties: { effort: { type: ["string", "null"], minLength: 1, maxLength: 40 }, format: { type: ["object", "null"], required: ["type", "schema"], properties: { type: { const: "json_schema" }, schema: { type: "object" } } } } };
var schema110 = { type: "object", allOf: [{ type: "object", required: ["role"], properties: { role: { type: "string", enum: ["user", "assistant", "system"] } } }, { type: "object", discriminator: { propertyName: "role" }, oneOf: [{ $ref: "MessagesUserTurn" }, { $ref: "MessagesAssistantTurn" }, { $ref: "MessagesSystemTurn" }] }] };
var schema111 = { type: "object", required: ["role", "content"], properties: { role: { const: "user" }, content: { type: ["string", "array"], minItems: 1, items: { $ref: "MessagesUserBlock" } } } };
var schema112 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["text", "image", "document", "search_result", "tool_result"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "MessagesText" }, { $ref: "MessagesImage" }, { $ref: "MessagesDocument" }, { $ref: "MessagesSearchResult" }, { $ref: "MessagesToolResult" }] }] };
var schema114 = { type: ["object", "null"], required: ["type"], properties: { type: { const: "ephemeral" }, ttl: { enum: ["5m", "1h", null] } } };
function validate93(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate93.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type") || data.text === undefined && (missing0 = "text")) {
validate93.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs1 = errors;
if (data.type !== "text") {
validate93.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/properties/type/const", keyword: "const", params: { allowedValue: "text" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.text !== undefined) {
const _errs2 = errors;
if (typeof data.text !== "string") {
validate93.errors = [{ instancePath: instancePath + "/text", schemaPath: "#/properties/text/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.cache_control !== undefined) {
let data2 = data.cache_control;
const _errs4 = errors;
const _errs5 = errors;
if (!(data2 && typeof data2 == "object" && !Array.isArray(data2)) && data2 !== null) {
validate93.errors = [{ instancePath: instancePath + "/cache_control", schemaPath: "MessagesCacheControl/type", keyword: "type", params: { type: schema114.type } }];
return false;
}
if (errors === _errs5) {
if (data2 && typeof data2 == "object" && !Array.isArray(data2)) {
let missing1;
if (data2.type === undefined && (missing1 = "type")) {
validate93.errors = [{ instancePath: instancePath + "/cache_control", schemaPath: "MessagesCacheControl/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data2.type !== undefined) {
const _errs7 = errors;
if (data2.type !== "ephemeral") {
validate93.errors = [{ instancePath: instancePath + "/cache_control/type", schemaPath: "MessagesCacheControl/properties/type/const", keyword: "const", params: { allowedValue: "ephemeral" } }];
return false;
}
var valid2 = _errs7 === errors;
} else {
var valid2 = true;
}
if (valid2) {
if (data2.ttl !== undefined) {
let data4 = data2.ttl;
const _errs8 = errors;
if (!(data4 === "5m" || data4 === "1h" || data4 === null)) {
validate93.errors = [{ instancePath: instancePath + "/cache_control/ttl", schemaPath: "MessagesCacheControl/properties/ttl/enum", keyword: "enum", params: { allowedValues: schema114.properties.ttl.enum } }];
return false;
}
var valid2 = _errs8 === errors;
} else {
var valid2 = true;
}
}
}
}
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
}
}
}
} else {
validate93.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate93.errors = vErrors;
return errors === 0;
}
validate93.evaluated = { props: { type: true, text: true, cache_control: true }, dynamicProps: false, dynamicItems: false };
var schema116 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["base64", "url", "file"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "MessagesImageBytes" }, { $ref: "MessagesUrl" }, { $ref: "MessagesFile" }] }] };
var schema117 = { type: "object", required: ["type", "media_type", "data"], properties: { type: { const: "base64" }, media_type: { enum: ["image/jpeg", "image/png", "image/gif", "image/webp"] }, data: { type: "string", minLength: 1 } } };
var pattern19 = new RegExp("^[Hh][Tt][Tt][Pp][Ss]?://", "u");
function validate95(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate95.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate95.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate95.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate95.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "base64" || data0 === "url" || data0 === "file")) {
validate95.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema116.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate95.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
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
if (tag0 === "base64") {
const _errs9 = errors;
if (errors === _errs9) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing1;
if (data.type === undefined && (missing1 = "type") || data.media_type === undefined && (missing1 = "media_type") || data.data === undefined && (missing1 = "data")) {
validate95.errors = [{ instancePath, schemaPath: "MessagesImageBytes/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs11 = errors;
if (data.type !== "base64") {
validate95.errors = [{ instancePath: instancePath + "/type", schemaPath: "MessagesImageBytes/properties/type/const", keyword: "const", params: { allowedValue: "base64" } }];
return false;
}
var valid5 = _errs11 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data.media_type !== undefined) {
let data2 = data.media_type;
const _errs12 = errors;
if (!(data2 === "image/jpeg" || data2 === "image/png" || data2 === "image/gif" || data2 === "image/webp")) {
validate95.errors = [{ instancePath: instancePath + "/media_type", schemaPath: "MessagesImageBytes/properties/media_type/enum", keyword: "enum", params: { allowedValues: schema117.properties.media_type.enum } }];
return false;
}
var valid5 = _errs12 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data.data !== undefined) {
let data3 = data.data;
const _errs13 = errors;
if (errors === _errs13) {
if (typeof data3 === "string") {
if (func3(data3) < 1) {
validate95.errors = [{ instancePath: instancePath + "/data", schemaPath: "MessagesImageBytes/properties/data/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate95.errors = [{ instancePath: instancePath + "/data", schemaPath: "MessagesImageBytes/properties/data/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid5 = _errs13 === errors;
} else {
var valid5 = true;
}
}
}
}
} else {
validate95.errors = [{ instancePath, schemaPath: "MessagesImageBytes/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var props0 = {};
props0.type = true;
props0.media_type = true;
props0.data = true;
} else if (tag0 === "url") {
const _errs16 = errors;
if (errors === _errs16) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing2;
if (data.type === undefined && (missing2 = "type") || data.url === undefined && (missing2 = "url")) {
validate95.errors = [{ instancePath, schemaPath: "MessagesUrl/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs18 = errors;
if (data.type !== "url") {
validate95.errors = [{ instancePath: instancePath + "/type", schemaPath: "MessagesUrl/properties/type/const", keyword: "const", params: { allowedValue: "url" } }];
return false;
}
var valid8 = _errs18 === errors;
} else {
var valid8 = true;
}
if (valid8) {
if (data.url !== undefined) {
let data5 = data.url;
const _errs19 = errors;
if (errors === _errs19) {
if (typeof data5 === "string") {
if (!pattern19.test(data5)) {
validate95.errors = [{ instancePath: instancePath + "/url", schemaPath: "MessagesUrl/properties/url/pattern", keyword: "pattern", params: { pattern: "^[Hh][Tt][Tt][Pp][Ss]?://" } }];
return false;
}
} else {
validate95.errors = [{ instancePath: instancePath + "/url", schemaPath: "MessagesUrl/properties/url/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid8 = _errs19 === errors;
} else {
var valid8 = true;
}
}
}
} else {
validate95.errors = [{ instancePath, schemaPath: "MessagesUrl/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.url = true;
}
} else if (tag0 === "file") {
const _errs22 = errors;
if (errors === _errs22) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing3;
if (data.type === undefined && (missing3 = "type") || data.file_id === undefined && (missing3 = "file_id")) {
validate95.errors = [{ instancePath, schemaPath: "MessagesFile/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs24 = errors;
if (data.type !== "file") {
validate95.errors = [{ instancePath: instancePath + "/type", schemaPath: "MessagesFile/properties/type/const", keyword: "const", params: { allowedValue: "file" } }];
return false;
}
var valid11 = _errs24 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data.file_id !== undefined) {
let data7 = data.file_id;
const _errs25 = errors;
if (errors === _errs25) {
if (typeof data7 === "string") {
if (func3(data7) > 100) {
validate95.errors = [{ instancePath: instancePath + "/file_id", schemaPath: "MessagesFile/properties/file_id/maxLength", keyword: "maxLength", params: { limit: 100 } }];
return false;
} else {
if (func3(data7) < 1) {
validate95.errors = [{ instancePath: instancePath + "/file_id", schemaPath: "MessagesFile/properties/file_id/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate95.errors = [{ instancePath: instancePath + "/file_id", schemaPath: "MessagesFile/properties/file_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid11 = _errs25 === errors;
} else {
var valid11 = true;
}
}
}
} else {
validate95.errors = [{ instancePath, schemaPath: "MessagesFile/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.file_id = true;
}
} else {
validate95.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate95.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate95.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
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
validate95.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate95.evaluated = { dynamicProps: true, dynamicItems: false };
function validate94(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate94.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type") || data.source === undefined && (missing0 = "source")) {
validate94.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs1 = errors;
if (data.type !== "image") {
validate94.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/properties/type/const", keyword: "const", params: { allowedValue: "image" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.source !== undefined) {
const _errs2 = errors;
if (!validate95(data.source, { instancePath: instancePath + "/source", parentData: data, parentDataProperty: "source", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate95.errors : vErrors.concat(validate95.errors);
errors = vErrors.length;
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.cache_control !== undefined) {
let data2 = data.cache_control;
const _errs3 = errors;
const _errs4 = errors;
if (!(data2 && typeof data2 == "object" && !Array.isArray(data2)) && data2 !== null) {
validate94.errors = [{ instancePath: instancePath + "/cache_control", schemaPath: "MessagesCacheControl/type", keyword: "type", params: { type: schema114.type } }];
return false;
}
if (errors === _errs4) {
if (data2 && typeof data2 == "object" && !Array.isArray(data2)) {
let missing1;
if (data2.type === undefined && (missing1 = "type")) {
validate94.errors = [{ instancePath: instancePath + "/cache_control", schemaPath: "MessagesCacheControl/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data2.type !== undefined) {
const _errs6 = errors;
if (data2.type !== "ephemeral") {
validate94.errors = [{ instancePath: instancePath + "/cache_control/type", schemaPath: "MessagesCacheControl/properties/type/const", keyword: "const", params: { allowedValue: "ephemeral" } }];
return false;
}
var valid2 = _errs6 === errors;
} else {
var valid2 = true;
}
if (valid2) {
if (data2.ttl !== undefined) {
let data4 = data2.ttl;
const _errs7 = errors;
if (!(data4 === "5m" || data4 === "1h" || data4 === null)) {
validate94.errors = [{ instancePath: instancePath + "/cache_control/ttl", schemaPath: "MessagesCacheControl/properties/ttl/enum", keyword: "enum", params: { allowedValues: schema114.properties.ttl.enum } }];
return false;
}
var valid2 = _errs7 === errors;
} else {
var valid2 = true;
}
}
}
}
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
}
}
}
} else {
validate94.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate94.errors = vErrors;
return errors === 0;
}
validate94.evaluated = { props: { type: true, source: true, cache_control: true }, dynamicProps: false, dynamicItems: false };
var schema121 = { type: "object", required: ["type", "source"], properties: { type: { const: "document" }, source: { $ref: "MessagesDocumentSource" }, title: { type: ["string", "null"] }, context: { type: ["string", "null"] }, cache_control: { $ref: "MessagesCacheControl" } } };
var schema122 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["base64", "text", "url", "file", "content"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "MessagesPdfBytes" }, { $ref: "MessagesPlainText" }, { $ref: "MessagesUrl" }, { $ref: "MessagesFile" }, { $ref: "MessagesInnerBlocks" }] }] };
var schema123 = { type: "object", required: ["type", "content"], properties: { type: { const: "content" }, content: { type: ["string", "array"], items: { $ref: "MessagesInnerBlock" } } } };
var schema124 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["text", "image"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "MessagesText" }, { $ref: "MessagesImage" }] }] };
function validate100(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate100.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate100.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate100.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate100.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "text" || data0 === "image")) {
validate100.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema124.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate100.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
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
if (!validate93(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate93.errors : vErrors.concat(validate93.errors);
errors = vErrors.length;
}
var props0 = {};
props0.type = true;
props0.text = true;
props0.cache_control = true;
} else if (tag0 === "image") {
if (!validate94(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate94.errors : vErrors.concat(validate94.errors);
errors = vErrors.length;
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.source = true;
props0.cache_control = true;
}
} else {
validate100.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate100.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate100.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
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
validate100.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate100.evaluated = { dynamicProps: true, dynamicItems: false };
function validate99(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate99.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type") || data.content === undefined && (missing0 = "content")) {
validate99.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs1 = errors;
if (data.type !== "content") {
validate99.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/properties/type/const", keyword: "const", params: { allowedValue: "content" } }];
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
validate99.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: schema123.properties.content.type } }];
return false;
}
if (errors === _errs2) {
if (Array.isArray(data1)) {
var valid1 = true;
const len0 = data1.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs4 = errors;
if (!validate100(data1[i0], { instancePath: instancePath + "/content/" + i0, parentData: data1, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate100.errors : vErrors.concat(validate100.errors);
errors = vErrors.length;
}
var valid1 = _errs4 === errors;
if (!valid1) {
break;
}
}
}
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
}
}
} else {
validate99.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate99.errors = vErrors;
return errors === 0;
}
validate99.evaluated = { props: { type: true, content: true }, dynamicProps: false, dynamicItems: false };
function validate98(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate98.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate98.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate98.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate98.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "base64" || data0 === "text" || data0 === "url" || data0 === "file" || data0 === "content")) {
validate98.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema122.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate98.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
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
if (tag0 === "base64") {
const _errs9 = errors;
if (errors === _errs9) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing1;
if (data.type === undefined && (missing1 = "type") || data.media_type === undefined && (missing1 = "media_type") || data.data === undefined && (missing1 = "data")) {
validate98.errors = [{ instancePath, schemaPath: "MessagesPdfBytes/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs11 = errors;
if (data.type !== "base64") {
validate98.errors = [{ instancePath: instancePath + "/type", schemaPath: "MessagesPdfBytes/properties/type/const", keyword: "const", params: { allowedValue: "base64" } }];
return false;
}
var valid5 = _errs11 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data.media_type !== undefined) {
const _errs12 = errors;
if (data.media_type !== "application/pdf") {
validate98.errors = [{ instancePath: instancePath + "/media_type", schemaPath: "MessagesPdfBytes/properties/media_type/const", keyword: "const", params: { allowedValue: "application/pdf" } }];
return false;
}
var valid5 = _errs12 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data.data !== undefined) {
let data3 = data.data;
const _errs13 = errors;
if (errors === _errs13) {
if (typeof data3 === "string") {
if (func3(data3) < 1) {
validate98.errors = [{ instancePath: instancePath + "/data", schemaPath: "MessagesPdfBytes/properties/data/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate98.errors = [{ instancePath: instancePath + "/data", schemaPath: "MessagesPdfBytes/properties/data/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid5 = _errs13 === errors;
} else {
var valid5 = true;
}
}
}
}
} else {
validate98.errors = [{ instancePath, schemaPath: "MessagesPdfBytes/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var props0 = {};
props0.type = true;
props0.media_type = true;
props0.data = true;
} else if (tag0 === "text") {
const _errs16 = errors;
if (errors === _errs16) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing2;
if (data.type === undefined && (missing2 = "type") || data.media_type === undefined && (missing2 = "media_type") || data.data === undefined && (missing2 = "data")) {
validate98.errors = [{ instancePath, schemaPath: "MessagesPlainText/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs18 = errors;
if (data.type !== "text") {
validate98.errors = [{ instancePath: instancePath + "/type", schemaPath: "MessagesPlainText/properties/type/const", keyword: "const", params: { allowedValue: "text" } }];
return false;
}
var valid8 = _errs18 === errors;
} else {
var valid8 = true;
}
if (valid8) {
if (data.media_type !== undefined) {
const _errs19 = errors;
if (data.media_type !== "text/plain") {
validate98.errors = [{ instancePath: instancePath + "/media_type", schemaPath: "MessagesPlainText/properties/media_type/const", keyword: "const", params: { allowedValue: "text/plain" } }];
return false;
}
var valid8 = _errs19 === errors;
} else {
var valid8 = true;
}
if (valid8) {
if (data.data !== undefined) {
const _errs20 = errors;
if (typeof data.data !== "string") {
validate98.errors = [{ instancePath: instancePath + "/data", schemaPath: "MessagesPlainText/properties/data/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid8 = _errs20 === errors;
} else {
var valid8 = true;
}
}
}
}
} else {
validate98.errors = [{ instancePath, schemaPath: "MessagesPlainText/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.media_type = true;
props0.data = true;
}
} else if (tag0 === "url") {
const _errs23 = errors;
if (errors === _errs23) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing3;
if (data.type === undefined && (missing3 = "type") || data.url === undefined && (missing3 = "url")) {
validate98.errors = [{ instancePath, schemaPath: "MessagesUrl/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs25 = errors;
if (data.type !== "url") {
validate98.errors = [{ instancePath: instancePath + "/type", schemaPath: "MessagesUrl/properties/type/const", keyword: "const", params: { allowedValue: "url" } }];
return false;
}
var valid11 = _errs25 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data.url !== undefined) {
let data8 = data.url;
const _errs26 = errors;
if (errors === _errs26) {
if (typeof data8 === "string") {
if (!pattern19.test(data8)) {
validate98.errors = [{ instancePath: instancePath + "/url", schemaPath: "MessagesUrl/properties/url/pattern", keyword: "pattern", params: { pattern: "^[Hh][Tt][Tt][Pp][Ss]?://" } }];
return false;
}
} else {
validate98.errors = [{ instancePath: instancePath + "/url", schemaPath: "MessagesUrl/properties/url/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid11 = _errs26 === errors;
} else {
var valid11 = true;
}
}
}
} else {
validate98.errors = [{ instancePath, schemaPath: "MessagesUrl/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.url = true;
}
} else if (tag0 === "file") {
const _errs29 = errors;
if (errors === _errs29) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing4;
if (data.type === undefined && (missing4 = "type") || data.file_id === undefined && (missing4 = "file_id")) {
validate98.errors = [{ instancePath, schemaPath: "MessagesFile/required", keyword: "required", params: { missingProperty: missing4 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs31 = errors;
if (data.type !== "file") {
validate98.errors = [{ instancePath: instancePath + "/type", schemaPath: "MessagesFile/properties/type/const", keyword: "const", params: { allowedValue: "file" } }];
return false;
}
var valid14 = _errs31 === errors;
} else {
var valid14 = true;
}
if (valid14) {
if (data.file_id !== undefined) {
let data10 = data.file_id;
const _errs32 = errors;
if (errors === _errs32) {
if (typeof data10 === "string") {
if (func3(data10) > 100) {
validate98.errors = [{ instancePath: instancePath + "/file_id", schemaPath: "MessagesFile/properties/file_id/maxLength", keyword: "maxLength", params: { limit: 100 } }];
return false;
} else {
if (func3(data10) < 1) {
validate98.errors = [{ instancePath: instancePath + "/file_id", schemaPath: "MessagesFile/properties/file_id/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate98.errors = [{ instancePath: instancePath + "/file_id", schemaPath: "MessagesFile/properties/file_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid14 = _errs32 === errors;
} else {
var valid14 = true;
}
}
}
} else {
validate98.errors = [{ instancePath, schemaPath: "MessagesFile/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.file_id = true;
}
} else if (tag0 === "content") {
if (!validate99(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate99.errors : vErrors.concat(validate99.errors);
errors = vErrors.length;
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.content = true;
}
} else {
validate98.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate98.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate98.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
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
validate98.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate98.evaluated = { dynamicProps: true, dynamicItems: false };
function validate97(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate97.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type") || data.source === undefined && (missing0 = "source")) {
validate97.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs1 = errors;
if (data.type !== "document") {
validate97.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/properties/type/const", keyword: "const", params: { allowedValue: "document" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.source !== undefined) {
const _errs2 = errors;
if (!validate98(data.source, { instancePath: instancePath + "/source", parentData: data, parentDataProperty: "source", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate98.errors : vErrors.concat(validate98.errors);
errors = vErrors.length;
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.title !== undefined) {
let data2 = data.title;
const _errs3 = errors;
if (typeof data2 !== "string" && data2 !== null) {
validate97.errors = [{ instancePath: instancePath + "/title", schemaPath: "#/properties/title/type", keyword: "type", params: { type: schema121.properties.title.type } }];
return false;
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.context !== undefined) {
let data3 = data.context;
const _errs5 = errors;
if (typeof data3 !== "string" && data3 !== null) {
validate97.errors = [{ instancePath: instancePath + "/context", schemaPath: "#/properties/context/type", keyword: "type", params: { type: schema121.properties.context.type } }];
return false;
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.cache_control !== undefined) {
let data4 = data.cache_control;
const _errs7 = errors;
const _errs8 = errors;
if (!(data4 && typeof data4 == "object" && !Array.isArray(data4)) && data4 !== null) {
validate97.errors = [{ instancePath: instancePath + "/cache_control", schemaPath: "MessagesCacheControl/type", keyword: "type", params: { type: schema114.type } }];
return false;
}
if (errors === _errs8) {
if (data4 && typeof data4 == "object" && !Array.isArray(data4)) {
let missing1;
if (data4.type === undefined && (missing1 = "type")) {
validate97.errors = [{ instancePath: instancePath + "/cache_control", schemaPath: "MessagesCacheControl/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data4.type !== undefined) {
const _errs10 = errors;
if (data4.type !== "ephemeral") {
validate97.errors = [{ instancePath: instancePath + "/cache_control/type", schemaPath: "MessagesCacheControl/properties/type/const", keyword: "const", params: { allowedValue: "ephemeral" } }];
return false;
}
var valid2 = _errs10 === errors;
} else {
var valid2 = true;
}
if (valid2) {
if (data4.ttl !== undefined) {
let data6 = data4.ttl;
const _errs11 = errors;
if (!(data6 === "5m" || data6 === "1h" || data6 === null)) {
validate97.errors = [{ instancePath: instancePath + "/cache_control/ttl", schemaPath: "MessagesCacheControl/properties/ttl/enum", keyword: "enum", params: { allowedValues: schema114.properties.ttl.enum } }];
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
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
}
}
}
}
}
} else {
validate97.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate97.errors = vErrors;
return errors === 0;
}
validate97.evaluated = { props: { type: true, source: true, title: true, context: true, cache_control: true }, dynamicProps: false, dynamicItems: false };
var schema131 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["text"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "MessagesText" }] }] };
function validate107(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate107.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate107.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate107.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate107.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "text")) {
validate107.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema131.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate107.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
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
if (!validate93(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate93.errors : vErrors.concat(validate93.errors);
errors = vErrors.length;
}
var props0 = {};
props0.type = true;
props0.text = true;
props0.cache_control = true;
} else {
validate107.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate107.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate107.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
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
validate107.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate107.evaluated = { dynamicProps: true, dynamicItems: false };
function validate106(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate106.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type") || data.source === undefined && (missing0 = "source") || data.title === undefined && (missing0 = "title") || data.content === undefined && (missing0 = "content")) {
validate106.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs1 = errors;
if (data.type !== "search_result") {
validate106.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/properties/type/const", keyword: "const", params: { allowedValue: "search_result" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.source !== undefined) {
const _errs2 = errors;
if (typeof data.source !== "string") {
validate106.errors = [{ instancePath: instancePath + "/source", schemaPath: "#/properties/source/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.title !== undefined) {
const _errs4 = errors;
if (typeof data.title !== "string") {
validate106.errors = [{ instancePath: instancePath + "/title", schemaPath: "#/properties/title/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.content !== undefined) {
let data3 = data.content;
const _errs6 = errors;
if (errors === _errs6) {
if (Array.isArray(data3)) {
var valid1 = true;
const len0 = data3.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs8 = errors;
if (!validate107(data3[i0], { instancePath: instancePath + "/content/" + i0, parentData: data3, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate107.errors : vErrors.concat(validate107.errors);
errors = vErrors.length;
}
var valid1 = _errs8 === errors;
if (!valid1) {
break;
}
}
} else {
validate106.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs6 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.cache_control !== undefined) {
let data5 = data.cache_control;
const _errs9 = errors;
const _errs10 = errors;
if (!(data5 && typeof data5 == "object" && !Array.isArray(data5)) && data5 !== null) {
validate106.errors = [{ instancePath: instancePath + "/cache_control", schemaPath: "MessagesCacheControl/type", keyword: "type", params: { type: schema114.type } }];
return false;
}
if (errors === _errs10) {
if (data5 && typeof data5 == "object" && !Array.isArray(data5)) {
let missing1;
if (data5.type === undefined && (missing1 = "type")) {
validate106.errors = [{ instancePath: instancePath + "/cache_control", schemaPath: "MessagesCacheControl/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data5.type !== undefined) {
const _errs12 = errors;
if (data5.type !== "ephemeral") {
validate106.errors = [{ instancePath: instancePath + "/cache_control/type", schemaPath: "MessagesCacheControl/properties/type/const", keyword: "const", params: { allowedValue: "ephemeral" } }];
return false;
}
var valid3 = _errs12 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data5.ttl !== undefined) {
let data7 = data5.ttl;
const _errs13 = errors;
if (!(data7 === "5m" || data7 === "1h" || data7 === null)) {
validate106.errors = [{ instancePath: instancePath + "/cache_control/ttl", schemaPath: "MessagesCacheControl/properties/ttl/enum", keyword: "enum", params: { allowedValues: schema114.properties.ttl.enum } }];
return false;
}
var valid3 = _errs13 === errors;
} else {
var valid3 = true;
}
}
}
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
}
} else {
validate106.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate106.errors = vErrors;
return errors === 0;
}
validate106.evaluated = { props: { type: true, source: true, title: true, content: true, cache_control: true }, dynamicProps: false, dynamicItems: false };
var schema133 = { type: "object", required: ["type", "tool_use_id"], properties: { type: { const: "tool_result" }, tool_use_id: { type: "string" }, content: { type: ["string", "array", "null"], items: { $ref: "MessagesResultBlock" } }, is_error: { type: ["boolean", "null"] }, cache_control: { $ref: "MessagesCacheControl" } } };
var schema134 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["text", "image", "document", "search_result"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "MessagesText" }, { $ref: "MessagesImage" }, { $ref: "MessagesDocument" }, { $ref: "MessagesSearchResult" }] }] };
function validate111(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate111.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate111.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate111.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate111.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "text" || data0 === "image" || data0 === "document" || data0 === "search_result")) {
validate111.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema134.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate111.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
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
if (!validate93(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate93.errors : vErrors.concat(validate93.errors);
errors = vErrors.length;
}
var props0 = {};
props0.type = true;
props0.text = true;
props0.cache_control = true;
} else if (tag0 === "image") {
if (!validate94(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate94.errors : vErrors.concat(validate94.errors);
errors = vErrors.length;
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.source = true;
props0.cache_control = true;
}
} else if (tag0 === "document") {
if (!validate97(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate97.errors : vErrors.concat(validate97.errors);
errors = vErrors.length;
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.source = true;
props0.title = true;
props0.context = true;
props0.cache_control = true;
}
} else if (tag0 === "search_result") {
if (!validate106(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate106.errors : vErrors.concat(validate106.errors);
errors = vErrors.length;
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.source = true;
props0.title = true;
props0.content = true;
props0.cache_control = true;
}
} else {
validate111.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate111.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate111.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
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
validate111.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate111.evaluated = { dynamicProps: true, dynamicItems: false };
function validate110(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate110.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type") || data.tool_use_id === undefined && (missing0 = "tool_use_id")) {
validate110.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs1 = errors;
if (data.type !== "tool_result") {
validate110.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/properties/type/const", keyword: "const", params: { allowedValue: "tool_result" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.tool_use_id !== undefined) {
const _errs2 = errors;
if (typeof data.tool_use_id !== "string") {
validate110.errors = [{ instancePath: instancePath + "/tool_use_id", schemaPath: "#/properties/tool_use_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.content !== undefined) {
let data2 = data.content;
const _errs4 = errors;
if (typeof data2 !== "string" && !Array.isArray(data2) && data2 !== null) {
validate110.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: schema133.properties.content.type } }];
return false;
}
if (errors === _errs4) {
if (Array.isArray(data2)) {
var valid1 = true;
const len0 = data2.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs6 = errors;
if (!validate111(data2[i0], { instancePath: instancePath + "/content/" + i0, parentData: data2, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate111.errors : vErrors.concat(validate111.errors);
errors = vErrors.length;
}
var valid1 = _errs6 === errors;
if (!valid1) {
break;
}
}
}
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.is_error !== undefined) {
let data4 = data.is_error;
const _errs7 = errors;
if (typeof data4 !== "boolean" && data4 !== null) {
validate110.errors = [{ instancePath: instancePath + "/is_error", schemaPath: "#/properties/is_error/type", keyword: "type", params: { type: schema133.properties.is_error.type } }];
return false;
}
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.cache_control !== undefined) {
let data5 = data.cache_control;
const _errs9 = errors;
const _errs10 = errors;
if (!(data5 && typeof data5 == "object" && !Array.isArray(data5)) && data5 !== null) {
validate110.errors = [{ instancePath: instancePath + "/cache_control", schemaPath: "MessagesCacheControl/type", keyword: "type", params: { type: schema114.type } }];
return false;
}
if (errors === _errs10) {
if (data5 && typeof data5 == "object" && !Array.isArray(data5)) {
let missing1;
if (data5.type === undefined && (missing1 = "type")) {
validate110.errors = [{ instancePath: instancePath + "/cache_control", schemaPath: "MessagesCacheControl/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data5.type !== undefined) {
const _errs12 = errors;
if (data5.type !== "ephemeral") {
validate110.errors = [{ instancePath: instancePath + "/cache_control/type", schemaPath: "MessagesCacheControl/properties/type/const", keyword: "const", params: { allowedValue: "ephemeral" } }];
return false;
}
var valid3 = _errs12 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data5.ttl !== undefined) {
let data7 = data5.ttl;
const _errs13 = errors;
if (!(data7 === "5m" || data7 === "1h" || data7 === null)) {
validate110.errors = [{ instancePath: instancePath + "/cache_control/ttl", schemaPath: "MessagesCacheControl/properties/ttl/enum", keyword: "enum", params: { allowedValues: schema114.properties.ttl.enum } }];
return false;
}
var valid3 = _errs13 === errors;
} else {
var valid3 = true;
}
}
}
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
}
} else {
validate110.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate110.errors = vErrors;
return errors === 0;
}
validate110.evaluated = { props: { type: true, tool_use_id: true, content: true, is_error: true, cache_control: true }, dynamicProps: false, dynamicItems: false };
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
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate92.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate92.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate92.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "text" || data0 === "image" || data0 === "document" || data0 === "search_result" || data0 === "tool_result")) {
validate92.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema112.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate92.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
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
if (!validate93(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate93.errors : vErrors.concat(validate93.errors);
errors = vErrors.length;
}
var props0 = {};
props0.type = true;
props0.text = true;
props0.cache_control = true;
} else if (tag0 === "image") {
if (!validate94(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate94.errors : vErrors.concat(validate94.errors);
errors = vErrors.length;
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.source = true;
props0.cache_control = true;
}
} else if (tag0 === "document") {
if (!validate97(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate97.errors : vErrors.concat(validate97.errors);
errors = vErrors.length;
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.source = true;
props0.title = true;
props0.context = true;
props0.cache_control = true;
}
} else if (tag0 === "search_result") {
if (!validate106(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate106.errors : vErrors.concat(validate106.errors);
errors = vErrors.length;
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.source = true;
props0.title = true;
props0.content = true;
props0.cache_control = true;
}
} else if (tag0 === "tool_result") {
if (!validate110(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate110.errors : vErrors.concat(validate110.errors);
errors = vErrors.length;
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.tool_use_id = true;
props0.content = true;
props0.is_error = true;
props0.cache_control = true;
}
} else {
validate92.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate92.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate92.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
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
validate92.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate92.evaluated = { dynamicProps: true, dynamicItems: false };
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
if (data.role === undefined && (missing0 = "role") || data.content === undefined && (missing0 = "content")) {
validate91.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.role !== undefined) {
const _errs1 = errors;
if (data.role !== "user") {
validate91.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/properties/role/const", keyword: "const", params: { allowedValue: "user" } }];
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
validate91.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: schema111.properties.content.type } }];
return false;
}
if (errors === _errs2) {
if (Array.isArray(data1)) {
if (data1.length < 1) {
validate91.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid1 = true;
const len0 = data1.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs4 = errors;
if (!validate92(data1[i0], { instancePath: instancePath + "/content/" + i0, parentData: data1, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate92.errors : vErrors.concat(validate92.errors);
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
validate91.evaluated = { props: { role: true, content: true }, dynamicProps: false, dynamicItems: false };
var schema136 = { type: "object", required: ["role", "content"], properties: { role: { const: "assistant" }, content: { type: ["string", "array"], items: { $ref: "MessagesAssistantBlock" } } } };
var schema137 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["text", "thinking", "redacted_thinking", "tool_use"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "MessagesText" }, { $ref: "MessagesThinkingBlock" }, { $ref: "MessagesRedactedThinking" }, { $ref: "MessagesToolUse" }] }] };
var schema138 = { type: "object", required: ["type", "thinking"], properties: { type: { const: "thinking" }, thinking: { type: "string" }, signature: { type: ["string", "null"] } } };
function validate124(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate124.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate124.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate124.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate124.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "text" || data0 === "thinking" || data0 === "redacted_thinking" || data0 === "tool_use")) {
validate124.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema137.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate124.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
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
if (!validate93(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate93.errors : vErrors.concat(validate93.errors);
errors = vErrors.length;
}
var props0 = {};
props0.type = true;
props0.text = true;
props0.cache_control = true;
} else if (tag0 === "thinking") {
const _errs10 = errors;
if (errors === _errs10) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing1;
if (data.type === undefined && (missing1 = "type") || data.thinking === undefined && (missing1 = "thinking")) {
validate124.errors = [{ instancePath, schemaPath: "MessagesThinkingBlock/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs12 = errors;
if (data.type !== "thinking") {
validate124.errors = [{ instancePath: instancePath + "/type", schemaPath: "MessagesThinkingBlock/properties/type/const", keyword: "const", params: { allowedValue: "thinking" } }];
return false;
}
var valid6 = _errs12 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data.thinking !== undefined) {
const _errs13 = errors;
if (typeof data.thinking !== "string") {
validate124.errors = [{ instancePath: instancePath + "/thinking", schemaPath: "MessagesThinkingBlock/properties/thinking/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid6 = _errs13 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data.signature !== undefined) {
let data3 = data.signature;
const _errs15 = errors;
if (typeof data3 !== "string" && data3 !== null) {
validate124.errors = [{ instancePath: instancePath + "/signature", schemaPath: "MessagesThinkingBlock/properties/signature/type", keyword: "type", params: { type: schema138.properties.signature.type } }];
return false;
}
var valid6 = _errs15 === errors;
} else {
var valid6 = true;
}
}
}
}
} else {
validate124.errors = [{ instancePath, schemaPath: "MessagesThinkingBlock/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.thinking = true;
props0.signature = true;
}
} else if (tag0 === "redacted_thinking") {
const _errs18 = errors;
if (errors === _errs18) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing2;
if (data.type === undefined && (missing2 = "type") || data.data === undefined && (missing2 = "data")) {
validate124.errors = [{ instancePath, schemaPath: "MessagesRedactedThinking/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs20 = errors;
if (data.type !== "redacted_thinking") {
validate124.errors = [{ instancePath: instancePath + "/type", schemaPath: "MessagesRedactedThinking/properties/type/const", keyword: "const", params: { allowedValue: "redacted_thinking" } }];
return false;
}
var valid9 = _errs20 === errors;
} else {
var valid9 = true;
}
if (valid9) {
if (data.data !== undefined) {
const _errs21 = errors;
if (typeof data.data !== "string") {
validate124.errors = [{ instancePath: instancePath + "/data", schemaPath: "MessagesRedactedThinking/properties/data/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid9 = _errs21 === errors;
} else {
var valid9 = true;
}
}
}
} else {
validate124.errors = [{ instancePath, schemaPath: "MessagesRedactedThinking/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.data = true;
}
} else if (tag0 === "tool_use") {
const _errs24 = errors;
if (errors === _errs24) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing3;
if (data.type === undefined && (missing3 = "type") || data.id === undefined && (missing3 = "id") || data.name === undefined && (missing3 = "name") || data.input === undefined && (missing3 = "input")) {
validate124.errors = [{ instancePath, schemaPath: "MessagesToolUse/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs26 = errors;
if (data.type !== "tool_use") {
validate124.errors = [{ instancePath: instancePath + "/type", schemaPath: "MessagesToolUse/properties/type/const", keyword: "const", params: { allowedValue: "tool_use" } }];
return false;
}
var valid12 = _errs26 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data.id !== undefined) {
const _errs27 = errors;
if (typeof data.id !== "string") {
validate124.errors = [{ instancePath: instancePath + "/id", schemaPath: "MessagesToolUse/properties/id/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid12 = _errs27 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data.name !== undefined) {
const _errs29 = errors;
if (typeof data.name !== "string") {
validate124.errors = [{ instancePath: instancePath + "/name", schemaPath: "MessagesToolUse/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid12 = _errs29 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data.input !== undefined) {
let data9 = data.input;
const _errs31 = errors;
if (!(data9 && typeof data9 == "object" && !Array.isArray(data9))) {
validate124.errors = [{ instancePath: instancePath + "/input", schemaPath: "MessagesToolUse/properties/input/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid12 = _errs31 === errors;
} else {
var valid12 = true;
}
}
}
}
}
} else {
validate124.errors = [{ instancePath, schemaPath: "MessagesToolUse/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.id = true;
props0.name = true;
props0.input = true;
}
} else {
validate124.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate124.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate124.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
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
validate124.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate124.evaluated = { dynamicProps: true, dynamicItems: false };
function validate123(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate123.evaluated;
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
validate123.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.role !== undefined) {
const _errs1 = errors;
if (data.role !== "assistant") {
validate123.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/properties/role/const", keyword: "const", params: { allowedValue: "assistant" } }];
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
validate123.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: schema136.properties.content.type } }];
return false;
}
if (errors === _errs2) {
if (Array.isArray(data1)) {
var valid1 = true;
const len0 = data1.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs4 = errors;
if (!validate124(data1[i0], { instancePath: instancePath + "/content/" + i0, parentData: data1, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate124.errors : vErrors.concat(validate124.errors);
errors = vErrors.length;
}
var valid1 = _errs4 === errors;
if (!valid1) {
break;
}
}
}
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
}
}
} else {
validate123.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate123.errors = vErrors;
return errors === 0;
}
validate123.evaluated = { props: { role: true, content: true }, dynamicProps: false, dynamicItems: false };
var schema141 = { type: "object", required: ["role", "content"], properties: { role: { const: "system" }, content: { type: ["string", "array"], minItems: 1, items: { $ref: "MessagesTextOnlyBlock" } } } };
function validate127(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate127.evaluated;
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
validate127.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.role !== undefined) {
const _errs1 = errors;
if (data.role !== "system") {
validate127.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/properties/role/const", keyword: "const", params: { allowedValue: "system" } }];
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
validate127.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: schema141.properties.content.type } }];
return false;
}
if (errors === _errs2) {
if (Array.isArray(data1)) {
if (data1.length < 1) {
validate127.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid1 = true;
const len0 = data1.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs4 = errors;
if (!validate107(data1[i0], { instancePath: instancePath + "/content/" + i0, parentData: data1, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate107.errors : vErrors.concat(validate107.errors);
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
}
}
} else {
validate127.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate127.errors = vErrors;
return errors === 0;
}
validate127.evaluated = { props: { role: true, content: true }, dynamicProps: false, dynamicItems: false };
function validate90(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate90.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate90.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.role === undefined && (missing0 = "role")) {
validate90.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.role !== undefined) {
let data0 = data.role;
if (typeof data0 !== "string") {
validate90.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/allOf/0/properties/role/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "user" || data0 === "assistant" || data0 === "system")) {
validate90.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/allOf/0/properties/role/enum", keyword: "enum", params: { allowedValues: schema110.allOf[0].properties.role.enum } }];
return false;
}
}
}
} else {
validate90.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
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
if (tag0 === "user") {
if (!validate91(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate91.errors : vErrors.concat(validate91.errors);
errors = vErrors.length;
}
var props0 = {};
props0.role = true;
props0.content = true;
} else if (tag0 === "assistant") {
if (!validate123(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate123.errors : vErrors.concat(validate123.errors);
errors = vErrors.length;
}
if (props0 !== true) {
props0 = props0 || {};
props0.role = true;
props0.content = true;
}
} else if (tag0 === "system") {
if (!validate127(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate127.errors : vErrors.concat(validate127.errors);
errors = vErrors.length;
}
if (props0 !== true) {
props0 = props0 || {};
props0.role = true;
props0.content = true;
}
} else {
validate90.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "role", tagValue: tag0 } }];
return false;
}
} else {
validate90.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "role", tagValue: tag0 } }];
return false;
}
} else {
validate90.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
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
validate90.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate90.evaluated = { dynamicProps: true, dynamicItems: false };
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
if (Array.isArray(data)) {
if (data.length < 1) {
validate89.errors = [{ instancePath, schemaPath: "#/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid0 = true;
const len0 = data.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs1 = errors;
if (!validate90(data[i0], { instancePath: instancePath + "/" + i0, parentData: data, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate90.errors : vErrors.concat(validate90.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
if (!valid0) {
break;
}
}
}
} else {
validate89.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
validate89.errors = vErrors;
return errors === 0;
}
validate89.evaluated = { items: true, dynamicProps: false, dynamicItems: false };
var schema142 = { type: ["string", "array", "null"], items: { $ref: "MessagesTextOnlyBlock" } };
function validate134(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate134.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (typeof data !== "string" && !Array.isArray(data) && data !== null) {
validate134.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: schema142.type } }];
return false;
}
if (errors === 0) {
if (Array.isArray(data)) {
var valid0 = true;
const len0 = data.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs1 = errors;
if (!validate107(data[i0], { instancePath: instancePath + "/" + i0, parentData: data, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate107.errors : vErrors.concat(validate107.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
if (!valid0) {
break;
}
}
}
}
validate134.errors = vErrors;
return errors === 0;
}
validate134.evaluated = { items: true, dynamicProps: false, dynamicItems: false };
var schema143 = { type: ["array", "null"], items: { $ref: "MessagesTool" } };
var schema144 = { type: "object", properties: { type: { type: ["string", "null"] }, name: { type: "string", pattern: "^[a-zA-Z0-9_-]{1,128}$" }, description: { type: ["string", "null"] }, input_schema: { type: "object" }, strict: { type: ["boolean", "null"] }, cache_control: { $ref: "MessagesCacheControl" } } };
var pattern21 = new RegExp("^[a-zA-Z0-9_-]{1,128}$", "u");
function validate138(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate138.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
if (data.type !== undefined) {
let data0 = data.type;
const _errs1 = errors;
if (typeof data0 !== "string" && data0 !== null) {
validate138.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/properties/type/type", keyword: "type", params: { type: schema144.properties.type.type } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.name !== undefined) {
let data1 = data.name;
const _errs3 = errors;
if (errors === _errs3) {
if (typeof data1 === "string") {
if (!pattern21.test(data1)) {
validate138.errors = [{ instancePath: instancePath + "/name", schemaPath: "#/properties/name/pattern", keyword: "pattern", params: { pattern: "^[a-zA-Z0-9_-]{1,128}$" } }];
return false;
}
} else {
validate138.errors = [{ instancePath: instancePath + "/name", schemaPath: "#/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.description !== undefined) {
let data2 = data.description;
const _errs5 = errors;
if (typeof data2 !== "string" && data2 !== null) {
validate138.errors = [{ instancePath: instancePath + "/description", schemaPath: "#/properties/description/type", keyword: "type", params: { type: schema144.properties.description.type } }];
return false;
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.input_schema !== undefined) {
let data3 = data.input_schema;
const _errs7 = errors;
if (!(data3 && typeof data3 == "object" && !Array.isArray(data3))) {
validate138.errors = [{ instancePath: instancePath + "/input_schema", schemaPath: "#/properties/input_schema/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.strict !== undefined) {
let data4 = data.strict;
const _errs9 = errors;
if (typeof data4 !== "boolean" && data4 !== null) {
validate138.errors = [{ instancePath: instancePath + "/strict", schemaPath: "#/properties/strict/type", keyword: "type", params: { type: schema144.properties.strict.type } }];
return false;
}
var valid0 = _errs9 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.cache_control !== undefined) {
let data5 = data.cache_control;
const _errs11 = errors;
const _errs12 = errors;
if (!(data5 && typeof data5 == "object" && !Array.isArray(data5)) && data5 !== null) {
validate138.errors = [{ instancePath: instancePath + "/cache_control", schemaPath: "MessagesCacheControl/type", keyword: "type", params: { type: schema114.type } }];
return false;
}
if (errors === _errs12) {
if (data5 && typeof data5 == "object" && !Array.isArray(data5)) {
let missing0;
if (data5.type === undefined && (missing0 = "type")) {
validate138.errors = [{ instancePath: instancePath + "/cache_control", schemaPath: "MessagesCacheControl/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data5.type !== undefined) {
const _errs14 = errors;
if (data5.type !== "ephemeral") {
validate138.errors = [{ instancePath: instancePath + "/cache_control/type", schemaPath: "MessagesCacheControl/properties/type/const", keyword: "const", params: { allowedValue: "ephemeral" } }];
return false;
}
var valid2 = _errs14 === errors;
} else {
var valid2 = true;
}
if (valid2) {
if (data5.ttl !== undefined) {
let data7 = data5.ttl;
const _errs15 = errors;
if (!(data7 === "5m" || data7 === "1h" || data7 === null)) {
validate138.errors = [{ instancePath: instancePath + "/cache_control/ttl", schemaPath: "MessagesCacheControl/properties/ttl/enum", keyword: "enum", params: { allowedValues: schema114.properties.ttl.enum } }];
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
}
}
}
}
}
} else {
validate138.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate138.errors = vErrors;
return errors === 0;
}
validate138.evaluated = { props: { type: true, name: true, description: true, input_schema: true, strict: true, cache_control: true }, dynamicProps: false, dynamicItems: false };
function validate137(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate137.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (!Array.isArray(data) && data !== null) {
validate137.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: schema143.type } }];
return false;
}
if (errors === 0) {
if (Array.isArray(data)) {
var valid0 = true;
const len0 = data.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs1 = errors;
if (!validate138(data[i0], { instancePath: instancePath + "/" + i0, parentData: data, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate138.errors : vErrors.concat(validate138.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
if (!valid0) {
break;
}
}
}
}
validate137.errors = vErrors;
return errors === 0;
}
validate137.evaluated = { items: true, dynamicProps: false, dynamicItems: false };
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
if (data.model === undefined && (missing0 = "model") || data.messages === undefined && (missing0 = "messages")) {
validate88.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.model !== undefined) {
let data0 = data.model;
const _errs1 = errors;
const _errs2 = errors;
if (errors === _errs2) {
if (typeof data0 === "string") {
if (func3(data0) > 200) {
validate88.errors = [{ instancePath: instancePath + "/model", schemaPath: "MessagesModel/maxLength", keyword: "maxLength", params: { limit: 200 } }];
return false;
} else {
if (func3(data0) < 1) {
validate88.errors = [{ instancePath: instancePath + "/model", schemaPath: "MessagesModel/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate88.errors = [{ instancePath: instancePath + "/model", schemaPath: "MessagesModel/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.messages !== undefined) {
const _errs4 = errors;
if (!validate89(data.messages, { instancePath: instancePath + "/messages", parentData: data, parentDataProperty: "messages", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate89.errors : vErrors.concat(validate89.errors);
errors = vErrors.length;
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.system !== undefined) {
const _errs5 = errors;
if (!validate134(data.system, { instancePath: instancePath + "/system", parentData: data, parentDataProperty: "system", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate134.errors : vErrors.concat(validate134.errors);
errors = vErrors.length;
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.tools !== undefined) {
const _errs6 = errors;
if (!validate137(data.tools, { instancePath: instancePath + "/tools", parentData: data, parentDataProperty: "tools", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate137.errors : vErrors.concat(validate137.errors);
errors = vErrors.length;
}
var valid0 = _errs6 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.tool_choice !== undefined) {
let data4 = data.tool_choice;
const _errs7 = errors;
const _errs8 = errors;
if (!(data4 && typeof data4 == "object" && !Array.isArray(data4)) && data4 !== null) {
validate88.errors = [{ instancePath: instancePath + "/tool_choice", schemaPath: "MessagesToolChoice/type", keyword: "type", params: { type: schema146.type } }];
return false;
}
if (errors === _errs8) {
if (data4 && typeof data4 == "object" && !Array.isArray(data4)) {
let missing1;
if (data4.type === undefined && (missing1 = "type")) {
validate88.errors = [{ instancePath: instancePath + "/tool_choice", schemaPath: "MessagesToolChoice/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data4.type !== undefined) {
let data5 = data4.type;
const _errs10 = errors;
if (!(data5 === "auto" || data5 === "any" || data5 === "tool" || data5 === "none")) {
validate88.errors = [{ instancePath: instancePath + "/tool_choice/type", schemaPath: "MessagesToolChoice/properties/type/enum", keyword: "enum", params: { allowedValues: schema146.properties.type.enum } }];
return false;
}
var valid3 = _errs10 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data4.name !== undefined) {
const _errs11 = errors;
if (typeof data4.name !== "string") {
validate88.errors = [{ instancePath: instancePath + "/tool_choice/name", schemaPath: "MessagesToolChoice/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid3 = _errs11 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data4.disable_parallel_tool_use !== undefined) {
let data7 = data4.disable_parallel_tool_use;
const _errs13 = errors;
if (typeof data7 !== "boolean" && data7 !== null) {
validate88.errors = [{ instancePath: instancePath + "/tool_choice/disable_parallel_tool_use", schemaPath: "MessagesToolChoice/properties/disable_parallel_tool_use/type", keyword: "type", params: { type: schema146.properties.disable_parallel_tool_use.type } }];
return false;
}
var valid3 = _errs13 === errors;
} else {
var valid3 = true;
}
}
}
}
}
}
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.thinking !== undefined) {
let data8 = data.thinking;
const _errs15 = errors;
const _errs16 = errors;
if (!(data8 && typeof data8 == "object" && !Array.isArray(data8)) && data8 !== null) {
validate88.errors = [{ instancePath: instancePath + "/thinking", schemaPath: "MessagesThinking/type", keyword: "type", params: { type: schema147.type } }];
return false;
}
if (errors === _errs16) {
if (data8 && typeof data8 == "object" && !Array.isArray(data8)) {
let missing2;
if (data8.type === undefined && (missing2 = "type")) {
validate88.errors = [{ instancePath: instancePath + "/thinking", schemaPath: "MessagesThinking/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data8.type !== undefined) {
let data9 = data8.type;
const _errs18 = errors;
if (!(data9 === "enabled" || data9 === "adaptive" || data9 === "disabled")) {
validate88.errors = [{ instancePath: instancePath + "/thinking/type", schemaPath: "MessagesThinking/properties/type/enum", keyword: "enum", params: { allowedValues: schema147.properties.type.enum } }];
return false;
}
var valid5 = _errs18 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data8.budget_tokens !== undefined) {
let data10 = data8.budget_tokens;
const _errs19 = errors;
if (!(typeof data10 == "number" && (!(data10 % 1) && !isNaN(data10)) && isFinite(data10)) && data10 !== null) {
validate88.errors = [{ instancePath: instancePath + "/thinking/budget_tokens", schemaPath: "MessagesThinking/properties/budget_tokens/type", keyword: "type", params: { type: schema147.properties.budget_tokens.type } }];
return false;
}
if (errors === _errs19) {
if (typeof data10 == "number" && isFinite(data10)) {
if (data10 < 1 || isNaN(data10)) {
validate88.errors = [{ instancePath: instancePath + "/thinking/budget_tokens", schemaPath: "MessagesThinking/properties/budget_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
var valid5 = _errs19 === errors;
} else {
var valid5 = true;
}
}
}
}
}
var valid0 = _errs15 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.output_config !== undefined) {
let data11 = data.output_config;
const _errs21 = errors;
const _errs22 = errors;
if (!(data11 && typeof data11 == "object" && !Array.isArray(data11)) && data11 !== null) {
validate88.errors = [{ instancePath: instancePath + "/output_config", schemaPath: "MessagesOutputConfig/type", keyword: "type", params: { type: schema148.type } }];
return false;
}
if (errors === _errs22) {
if (data11 && typeof data11 == "object" && !Array.isArray(data11)) {
if (data11.effort !== undefined) {
let data12 = data11.effort;
const _errs24 = errors;
if (typeof data12 !== "string" && data12 !== null) {
validate88.errors = [{ instancePath: instancePath + "/output_config/effort", schemaPath: "MessagesOutputConfig/properties/effort/type", keyword: "type", params: { type: schema148.properties.effort.type } }];
return false;
}
if (errors === _errs24) {
if (typeof data12 === "string") {
if (func3(data12) > 40) {
validate88.errors = [{ instancePath: instancePath + "/output_config/effort", schemaPath: "MessagesOutputConfig/properties/effort/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func3(data12) < 1) {
validate88.errors = [{ instancePath: instancePath + "/output_config/effort", schemaPath: "MessagesOutputConfig/properties/effort/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
}
}
var valid7 = _errs24 === errors;
} else {
var valid7 = true;
}
if (valid7) {
if (data11.format !== undefined) {
let data13 = data11.format;
const _errs26 = errors;
if (!(data13 && typeof data13 == "object" && !Array.isArray(data13)) && data13 !== null) {
validate88.errors = [{ instancePath: instancePath + "/output_config/format", schemaPath: "MessagesOutputConfig/properties/format/type", keyword: "type", params: { type: schema148.properties.format.type } }];
return false;
}
if (errors === _errs26) {
if (data13 && typeof data13 == "object" && !Array.isArray(data13)) {
let missing3;
if (data13.type === undefined && (missing3 = "type") || data13.schema === undefined && (missing3 = "schema")) {
validate88.errors = [{ instancePath: instancePath + "/output_config/format", schemaPath: "MessagesOutputConfig/properties/format/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data13.type !== undefined) {
const _errs28 = errors;
if (data13.type !== "json_schema") {
validate88.errors = [{ instancePath: instancePath + "/output_config/format/type", schemaPath: "MessagesOutputConfig/properties/format/properties/type/const", keyword: "const", params: { allowedValue: "json_schema" } }];
return false;
}
var valid8 = _errs28 === errors;
} else {
var valid8 = true;
}
if (valid8) {
if (data13.schema !== undefined) {
let data15 = data13.schema;
const _errs29 = errors;
if (!(data15 && typeof data15 == "object" && !Array.isArray(data15))) {
validate88.errors = [{ instancePath: instancePath + "/output_config/format/schema", schemaPath: "MessagesOutputConfig/properties/format/properties/schema/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid8 = _errs29 === errors;
} else {
var valid8 = true;
}
}
}
}
}
var valid7 = _errs26 === errors;
} else {
var valid7 = true;
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
} else {
validate88.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate88.errors = vErrors;
return errors === 0;
}
validate88.evaluated = { props: { model: true, messages: true, system: true, tools: true, tool_choice: true, thinking: true, output_config: true }, dynamicProps: false, dynamicItems: false };
var validateEmbeddingsRequest = validate141;
var schema149 = { type: "object", required: ["model", "input"], properties: { model: { type: "string", minLength: 1, maxLength: 200 }, input: { type: ["string", "array"], minLength: 1, minItems: 1, items: { type: ["string", "integer", "array"], minLength: 1, minimum: 0, minItems: 1, items: { type: "integer", minimum: 0 } } }, dimensions: { type: "integer", minimum: 1 }, encoding_format: { type: "string", enum: ["float", "base64"] }, user: { type: "string" } } };
function validate141(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate141.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.model === undefined && (missing0 = "model") || data.input === undefined && (missing0 = "input")) {
validate141.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.model !== undefined) {
let data0 = data.model;
const _errs1 = errors;
if (errors === _errs1) {
if (typeof data0 === "string") {
if (func3(data0) > 200) {
validate141.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/maxLength", keyword: "maxLength", params: { limit: 200 } }];
return false;
} else {
if (func3(data0) < 1) {
validate141.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate141.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.input !== undefined) {
let data1 = data.input;
const _errs3 = errors;
if (typeof data1 !== "string" && !Array.isArray(data1)) {
validate141.errors = [{ instancePath: instancePath + "/input", schemaPath: "#/properties/input/type", keyword: "type", params: { type: schema149.properties.input.type } }];
return false;
}
if (errors === _errs3) {
if (typeof data1 === "string") {
if (func3(data1) < 1) {
validate141.errors = [{ instancePath: instancePath + "/input", schemaPath: "#/properties/input/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
if (errors === _errs3) {
if (Array.isArray(data1)) {
if (data1.length < 1) {
validate141.errors = [{ instancePath: instancePath + "/input", schemaPath: "#/properties/input/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid1 = true;
const len0 = data1.length;
for (let i0 = 0;i0 < len0; i0++) {
let data2 = data1[i0];
const _errs5 = errors;
if (typeof data2 !== "string" && !(typeof data2 == "number" && (!(data2 % 1) && !isNaN(data2)) && isFinite(data2)) && !Array.isArray(data2)) {
validate141.errors = [{ instancePath: instancePath + "/input/" + i0, schemaPath: "#/properties/input/items/type", keyword: "type", params: { type: schema149.properties.input.items.type } }];
return false;
}
if (errors === _errs5) {
if (typeof data2 == "number" && isFinite(data2)) {
if (data2 < 0 || isNaN(data2)) {
validate141.errors = [{ instancePath: instancePath + "/input/" + i0, schemaPath: "#/properties/input/items/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
if (errors === _errs5) {
if (typeof data2 === "string") {
if (func3(data2) < 1) {
validate141.errors = [{ instancePath: instancePath + "/input/" + i0, schemaPath: "#/properties/input/items/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
if (errors === _errs5) {
if (Array.isArray(data2)) {
if (data2.length < 1) {
validate141.errors = [{ instancePath: instancePath + "/input/" + i0, schemaPath: "#/properties/input/items/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid2 = true;
const len1 = data2.length;
for (let i1 = 0;i1 < len1; i1++) {
let data3 = data2[i1];
const _errs7 = errors;
if (!(typeof data3 == "number" && (!(data3 % 1) && !isNaN(data3)) && isFinite(data3))) {
validate141.errors = [{ instancePath: instancePath + "/input/" + i0 + "/" + i1, schemaPath: "#/properties/input/items/items/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs7) {
if (typeof data3 == "number" && isFinite(data3)) {
if (data3 < 0 || isNaN(data3)) {
validate141.errors = [{ instancePath: instancePath + "/input/" + i0 + "/" + i1, schemaPath: "#/properties/input/items/items/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid2 = _errs7 === errors;
if (!valid2) {
break;
}
}
}
}
}
}
}
var valid1 = _errs5 === errors;
if (!valid1) {
break;
}
}
}
}
}
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.dimensions !== undefined) {
let data4 = data.dimensions;
const _errs9 = errors;
if (!(typeof data4 == "number" && (!(data4 % 1) && !isNaN(data4)) && isFinite(data4))) {
validate141.errors = [{ instancePath: instancePath + "/dimensions", schemaPath: "#/properties/dimensions/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs9) {
if (typeof data4 == "number" && isFinite(data4)) {
if (data4 < 1 || isNaN(data4)) {
validate141.errors = [{ instancePath: instancePath + "/dimensions", schemaPath: "#/properties/dimensions/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
var valid0 = _errs9 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.encoding_format !== undefined) {
let data5 = data.encoding_format;
const _errs11 = errors;
if (typeof data5 !== "string") {
validate141.errors = [{ instancePath: instancePath + "/encoding_format", schemaPath: "#/properties/encoding_format/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data5 === "float" || data5 === "base64")) {
validate141.errors = [{ instancePath: instancePath + "/encoding_format", schemaPath: "#/properties/encoding_format/enum", keyword: "enum", params: { allowedValues: schema149.properties.encoding_format.enum } }];
return false;
}
var valid0 = _errs11 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.user !== undefined) {
const _errs13 = errors;
if (typeof data.user !== "string") {
validate141.errors = [{ instancePath: instancePath + "/user", schemaPath: "#/properties/user/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs13 === errors;
} else {
var valid0 = true;
}
}
}
}
}
}
} else {
validate141.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate141.errors = vErrors;
return errors === 0;
}
validate141.evaluated = { props: { model: true, input: true, dimensions: true, encoding_format: true, user: true }, dynamicProps: false, dynamicItems: false };
var validateEstimateRequest = validate142;
function validate142(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate142.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
if (data.model !== undefined) {
if (typeof data.model !== "string") {
validate142.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
} else {
validate142.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate142.errors = vErrors;
return errors === 0;
}
validate142.evaluated = { props: { model: true }, dynamicProps: false, dynamicItems: false };
var validateFallbackChainRequest = validate143;
function validate143(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate143.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.fallbacks === undefined && (missing0 = "fallbacks")) {
validate143.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.fallbacks !== undefined) {
let data0 = data.fallbacks;
const _errs1 = errors;
if (errors === _errs1) {
if (Array.isArray(data0)) {
if (data0.length > 10) {
validate143.errors = [{ instancePath: instancePath + "/fallbacks", schemaPath: "#/properties/fallbacks/maxItems", keyword: "maxItems", params: { limit: 10 } }];
return false;
} else {
if (data0.length < 1) {
validate143.errors = [{ instancePath: instancePath + "/fallbacks", schemaPath: "#/properties/fallbacks/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid1 = true;
const len0 = data0.length;
for (let i0 = 0;i0 < len0; i0++) {
let data1 = data0[i0];
const _errs3 = errors;
if (errors === _errs3) {
if (typeof data1 === "string") {
if (func3(data1) > 200) {
validate143.errors = [{ instancePath: instancePath + "/fallbacks/" + i0, schemaPath: "#/properties/fallbacks/items/maxLength", keyword: "maxLength", params: { limit: 200 } }];
return false;
} else {
if (func3(data1) < 1) {
validate143.errors = [{ instancePath: instancePath + "/fallbacks/" + i0, schemaPath: "#/properties/fallbacks/items/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate143.errors = [{ instancePath: instancePath + "/fallbacks/" + i0, schemaPath: "#/properties/fallbacks/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid1 = _errs3 === errors;
if (!valid1) {
break;
}
}
}
}
} else {
validate143.errors = [{ instancePath: instancePath + "/fallbacks", schemaPath: "#/properties/fallbacks/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.continue_streams !== undefined) {
const _errs5 = errors;
if (typeof data.continue_streams !== "boolean") {
validate143.errors = [{ instancePath: instancePath + "/continue_streams", schemaPath: "#/properties/continue_streams/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
}
}
} else {
validate143.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate143.errors = vErrors;
return errors === 0;
}
validate143.evaluated = { props: { fallbacks: true, continue_streams: true }, dynamicProps: false, dynamicItems: false };
var validateFileUpload = validate144;
var schema152 = { type: "object", required: ["file", "purpose"], properties: { file: { type: "string", contentMediaType: "application/octet-stream" }, purpose: { enum: ["assistants", "batch", "fine-tune", "vision", "user_data", "evals"] }, "expires_after[anchor]": { const: "created_at" }, "expires_after[seconds]": { type: "integer", minimum: 3600, maximum: 2592000 } } };
function validate144(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate144.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.file === undefined && (missing0 = "file") || data.purpose === undefined && (missing0 = "purpose")) {
validate144.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.file !== undefined) {
const _errs1 = errors;
if (typeof data.file !== "string") {
validate144.errors = [{ instancePath: instancePath + "/file", schemaPath: "#/properties/file/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.purpose !== undefined) {
let data1 = data.purpose;
const _errs3 = errors;
if (!(data1 === "assistants" || data1 === "batch" || data1 === "fine-tune" || data1 === "vision" || data1 === "user_data" || data1 === "evals")) {
validate144.errors = [{ instancePath: instancePath + "/purpose", schemaPath: "#/properties/purpose/enum", keyword: "enum", params: { allowedValues: schema152.properties.purpose.enum } }];
return false;
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data["expires_after[anchor]"] !== undefined) {
const _errs4 = errors;
if (data["expires_after[anchor]"] !== "created_at") {
validate144.errors = [{ instancePath: instancePath + "/expires_after[anchor]", schemaPath: "#/properties/expires_after%5Banchor%5D/const", keyword: "const", params: { allowedValue: "created_at" } }];
return false;
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data["expires_after[seconds]"] !== undefined) {
let data3 = data["expires_after[seconds]"];
const _errs5 = errors;
if (!(typeof data3 == "number" && (!(data3 % 1) && !isNaN(data3)) && isFinite(data3))) {
validate144.errors = [{ instancePath: instancePath + "/expires_after[seconds]", schemaPath: "#/properties/expires_after%5Bseconds%5D/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs5) {
if (typeof data3 == "number" && isFinite(data3)) {
if (data3 > 2592000 || isNaN(data3)) {
validate144.errors = [{ instancePath: instancePath + "/expires_after[seconds]", schemaPath: "#/properties/expires_after%5Bseconds%5D/maximum", keyword: "maximum", params: { comparison: "<=", limit: 2592000 } }];
return false;
} else {
if (data3 < 3600 || isNaN(data3)) {
validate144.errors = [{ instancePath: instancePath + "/expires_after[seconds]", schemaPath: "#/properties/expires_after%5Bseconds%5D/minimum", keyword: "minimum", params: { comparison: ">=", limit: 3600 } }];
return false;
}
}
}
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
}
}
}
}
} else {
validate144.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate144.errors = vErrors;
return errors === 0;
}
validate144.evaluated = { props: { file: true, purpose: true, "expires_after[anchor]": true, "expires_after[seconds]": true }, dynamicProps: false, dynamicItems: false };
var validateImageEditRequest = validate145;
var schema153 = { type: "object", required: ["model", "prompt"], properties: { model: { type: "string", minLength: 1, maxLength: 200 }, prompt: { type: "string", minLength: 1, maxLength: 32000 }, image_base64: { type: "string", minLength: 1 }, image_file_id: { type: "string", minLength: 1, maxLength: 100 }, image_mime_type: { type: "string", maxLength: 100 }, mask_base64: { type: "string", minLength: 1 }, mask_file_id: { type: "string", minLength: 1, maxLength: 100 }, mask_mime_type: { type: "string", maxLength: 100 }, n: { type: "integer", minimum: 1 }, size: { type: "string", maxLength: 40 }, quality: { type: "string", maxLength: 40 }, aspect_ratio: { type: "string", maxLength: 40 }, strength: { type: "number" }, image_size: { type: "string", maxLength: 40 }, style: { type: "string", enum: ["vivid", "natural"] }, background: { type: "string", enum: ["transparent", "opaque", "auto"] }, person_generation: { type: "string", enum: ["dont_allow", "allow_adult", "allow_all"] }, response_format: { type: "string", enum: ["url", "b64_json"] }, steps: { type: "integer", minimum: 1, maximum: 100 }, prompt_extend: { type: "boolean" } } };
function validate145(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate145.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.model === undefined && (missing0 = "model") || data.prompt === undefined && (missing0 = "prompt")) {
validate145.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.model !== undefined) {
let data0 = data.model;
const _errs1 = errors;
if (errors === _errs1) {
if (typeof data0 === "string") {
if (func3(data0) > 200) {
validate145.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/maxLength", keyword: "maxLength", params: { limit: 200 } }];
return false;
} else {
if (func3(data0) < 1) {
validate145.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate145.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.prompt !== undefined) {
let data1 = data.prompt;
const _errs3 = errors;
if (errors === _errs3) {
if (typeof data1 === "string") {
if (func3(data1) > 32000) {
validate145.errors = [{ instancePath: instancePath + "/prompt", schemaPath: "#/properties/prompt/maxLength", keyword: "maxLength", params: { limit: 32000 } }];
return false;
} else {
if (func3(data1) < 1) {
validate145.errors = [{ instancePath: instancePath + "/prompt", schemaPath: "#/properties/prompt/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate145.errors = [{ instancePath: instancePath + "/prompt", schemaPath: "#/properties/prompt/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.image_base64 !== undefined) {
let data2 = data.image_base64;
const _errs5 = errors;
if (errors === _errs5) {
if (typeof data2 === "string") {
if (func3(data2) < 1) {
validate145.errors = [{ instancePath: instancePath + "/image_base64", schemaPath: "#/properties/image_base64/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate145.errors = [{ instancePath: instancePath + "/image_base64", schemaPath: "#/properties/image_base64/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.image_file_id !== undefined) {
let data3 = data.image_file_id;
const _errs7 = errors;
if (errors === _errs7) {
if (typeof data3 === "string") {
if (func3(data3) > 100) {
validate145.errors = [{ instancePath: instancePath + "/image_file_id", schemaPath: "#/properties/image_file_id/maxLength", keyword: "maxLength", params: { limit: 100 } }];
return false;
} else {
if (func3(data3) < 1) {
validate145.errors = [{ instancePath: instancePath + "/image_file_id", schemaPath: "#/properties/image_file_id/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate145.errors = [{ instancePath: instancePath + "/image_file_id", schemaPath: "#/properties/image_file_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.image_mime_type !== undefined) {
let data4 = data.image_mime_type;
const _errs9 = errors;
if (errors === _errs9) {
if (typeof data4 === "string") {
if (func3(data4) > 100) {
validate145.errors = [{ instancePath: instancePath + "/image_mime_type", schemaPath: "#/properties/image_mime_type/maxLength", keyword: "maxLength", params: { limit: 100 } }];
return false;
}
} else {
validate145.errors = [{ instancePath: instancePath + "/image_mime_type", schemaPath: "#/properties/image_mime_type/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs9 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.mask_base64 !== undefined) {
let data5 = data.mask_base64;
const _errs11 = errors;
if (errors === _errs11) {
if (typeof data5 === "string") {
if (func3(data5) < 1) {
validate145.errors = [{ instancePath: instancePath + "/mask_base64", schemaPath: "#/properties/mask_base64/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate145.errors = [{ instancePath: instancePath + "/mask_base64", schemaPath: "#/properties/mask_base64/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs11 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.mask_file_id !== undefined) {
let data6 = data.mask_file_id;
const _errs13 = errors;
if (errors === _errs13) {
if (typeof data6 === "string") {
if (func3(data6) > 100) {
validate145.errors = [{ instancePath: instancePath + "/mask_file_id", schemaPath: "#/properties/mask_file_id/maxLength", keyword: "maxLength", params: { limit: 100 } }];
return false;
} else {
if (func3(data6) < 1) {
validate145.errors = [{ instancePath: instancePath + "/mask_file_id", schemaPath: "#/properties/mask_file_id/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate145.errors = [{ instancePath: instancePath + "/mask_file_id", schemaPath: "#/properties/mask_file_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs13 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.mask_mime_type !== undefined) {
let data7 = data.mask_mime_type;
const _errs15 = errors;
if (errors === _errs15) {
if (typeof data7 === "string") {
if (func3(data7) > 100) {
validate145.errors = [{ instancePath: instancePath + "/mask_mime_type", schemaPath: "#/properties/mask_mime_type/maxLength", keyword: "maxLength", params: { limit: 100 } }];
return false;
}
} else {
validate145.errors = [{ instancePath: instancePath + "/mask_mime_type", schemaPath: "#/properties/mask_mime_type/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs15 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.n !== undefined) {
let data8 = data.n;
const _errs17 = errors;
if (!(typeof data8 == "number" && (!(data8 % 1) && !isNaN(data8)) && isFinite(data8))) {
validate145.errors = [{ instancePath: instancePath + "/n", schemaPath: "#/properties/n/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs17) {
if (typeof data8 == "number" && isFinite(data8)) {
if (data8 < 1 || isNaN(data8)) {
validate145.errors = [{ instancePath: instancePath + "/n", schemaPath: "#/properties/n/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
var valid0 = _errs17 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.size !== undefined) {
let data9 = data.size;
const _errs19 = errors;
if (errors === _errs19) {
if (typeof data9 === "string") {
if (func3(data9) > 40) {
validate145.errors = [{ instancePath: instancePath + "/size", schemaPath: "#/properties/size/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
}
} else {
validate145.errors = [{ instancePath: instancePath + "/size", schemaPath: "#/properties/size/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs19 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.quality !== undefined) {
let data10 = data.quality;
const _errs21 = errors;
if (errors === _errs21) {
if (typeof data10 === "string") {
if (func3(data10) > 40) {
validate145.errors = [{ instancePath: instancePath + "/quality", schemaPath: "#/properties/quality/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
}
} else {
validate145.errors = [{ instancePath: instancePath + "/quality", schemaPath: "#/properties/quality/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs21 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.aspect_ratio !== undefined) {
let data11 = data.aspect_ratio;
const _errs23 = errors;
if (errors === _errs23) {
if (typeof data11 === "string") {
if (func3(data11) > 40) {
validate145.errors = [{ instancePath: instancePath + "/aspect_ratio", schemaPath: "#/properties/aspect_ratio/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
}
} else {
validate145.errors = [{ instancePath: instancePath + "/aspect_ratio", schemaPath: "#/properties/aspect_ratio/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs23 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.strength !== undefined) {
let data12 = data.strength;
const _errs25 = errors;
if (!(typeof data12 == "number" && isFinite(data12))) {
validate145.errors = [{ instancePath: instancePath + "/strength", schemaPath: "#/properties/strength/type", keyword: "type", params: { type: "number" } }];
return false;
}
var valid0 = _errs25 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.image_size !== undefined) {
let data13 = data.image_size;
const _errs27 = errors;
if (errors === _errs27) {
if (typeof data13 === "string") {
if (func3(data13) > 40) {
validate145.errors = [{ instancePath: instancePath + "/image_size", schemaPath: "#/properties/image_size/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
}
} else {
validate145.errors = [{ instancePath: instancePath + "/image_size", schemaPath: "#/properties/image_size/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs27 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.style !== undefined) {
let data14 = data.style;
const _errs29 = errors;
if (typeof data14 !== "string") {
validate145.errors = [{ instancePath: instancePath + "/style", schemaPath: "#/properties/style/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data14 === "vivid" || data14 === "natural")) {
validate145.errors = [{ instancePath: instancePath + "/style", schemaPath: "#/properties/style/enum", keyword: "enum", params: { allowedValues: schema153.properties.style.enum } }];
return false;
}
var valid0 = _errs29 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.background !== undefined) {
let data15 = data.background;
const _errs31 = errors;
if (typeof data15 !== "string") {
validate145.errors = [{ instancePath: instancePath + "/background", schemaPath: "#/properties/background/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data15 === "transparent" || data15 === "opaque" || data15 === "auto")) {
validate145.errors = [{ instancePath: instancePath + "/background", schemaPath: "#/properties/background/enum", keyword: "enum", params: { allowedValues: schema153.properties.background.enum } }];
return false;
}
var valid0 = _errs31 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.person_generation !== undefined) {
let data16 = data.person_generation;
const _errs33 = errors;
if (typeof data16 !== "string") {
validate145.errors = [{ instancePath: instancePath + "/person_generation", schemaPath: "#/properties/person_generation/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data16 === "dont_allow" || data16 === "allow_adult" || data16 === "allow_all")) {
validate145.errors = [{ instancePath: instancePath + "/person_generation", schemaPath: "#/properties/person_generation/enum", keyword: "enum", params: { allowedValues: schema153.properties.person_generation.enum } }];
return false;
}
var valid0 = _errs33 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.response_format !== undefined) {
let data17 = data.response_format;
const _errs35 = errors;
if (typeof data17 !== "string") {
validate145.errors = [{ instancePath: instancePath + "/response_format", schemaPath: "#/properties/response_format/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data17 === "url" || data17 === "b64_json")) {
validate145.errors = [{ instancePath: instancePath + "/response_format", schemaPath: "#/properties/response_format/enum", keyword: "enum", params: { allowedValues: schema153.properties.response_format.enum } }];
return false;
}
var valid0 = _errs35 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.steps !== undefined) {
let data18 = data.steps;
const _errs37 = errors;
if (!(typeof data18 == "number" && (!(data18 % 1) && !isNaN(data18)) && isFinite(data18))) {
validate145.errors = [{ instancePath: instancePath + "/steps", schemaPath: "#/properties/steps/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs37) {
if (typeof data18 == "number" && isFinite(data18)) {
if (data18 > 100 || isNaN(data18)) {
validate145.errors = [{ instancePath: instancePath + "/steps", schemaPath: "#/properties/steps/maximum", keyword: "maximum", params: { comparison: "<=", limit: 100 } }];
return false;
} else {
if (data18 < 1 || isNaN(data18)) {
validate145.errors = [{ instancePath: instancePath + "/steps", schemaPath: "#/properties/steps/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid0 = _errs37 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.prompt_extend !== undefined) {
const _errs39 = errors;
if (typeof data.prompt_extend !== "boolean") {
validate145.errors = [{ instancePath: instancePath + "/prompt_extend", schemaPath: "#/properties/prompt_extend/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs39 === errors;
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
} else {
validate145.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate145.errors = vErrors;
return errors === 0;
}
validate145.evaluated = { props: { model: true, prompt: true, image_base64: true, image_file_id: true, image_mime_type: true, mask_base64: true, mask_file_id: true, mask_mime_type: true, n: true, size: true, quality: true, aspect_ratio: true, strength: true, image_size: true, style: true, background: true, person_generation: true, response_format: true, steps: true, prompt_extend: true }, dynamicProps: false, dynamicItems: false };
var validateImageGenerationRequest = validate146;
var schema154 = { type: "object", required: ["model", "prompt"], properties: { model: { type: "string", minLength: 1, maxLength: 200 }, prompt: { type: "string", minLength: 1, maxLength: 32000 }, stream: { type: "boolean" }, n: { type: "integer", minimum: 1 }, size: { type: "string", maxLength: 40 }, quality: { type: "string", maxLength: 40 }, style: { type: "string", enum: ["vivid", "natural"] }, response_format: { type: "string", enum: ["url", "b64_json"] }, aspect_ratio: { type: "string", maxLength: 40 }, image_size: { type: "string", maxLength: 40 }, strength: { type: "number" }, person_generation: { type: "string", enum: ["dont_allow", "allow_adult", "allow_all"] }, background: { type: "string", enum: ["transparent", "opaque", "auto"] }, output_format: { type: "string", enum: ["png", "webp", "jpeg"] }, output_compression: { type: "integer", minimum: 0, maximum: 100 }, input_fidelity: { type: "string", enum: ["high", "low"] }, moderation: { type: "string", enum: ["auto", "low"] }, negative_prompt: { type: "string", maxLength: 32000 }, seed: { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 }, steps: { type: "integer", minimum: 1, maximum: 100 }, prompt_extend: { type: "boolean" }, user: { type: "string", maxLength: 512 } } };
function validate146(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate146.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.model === undefined && (missing0 = "model") || data.prompt === undefined && (missing0 = "prompt")) {
validate146.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.model !== undefined) {
let data0 = data.model;
const _errs1 = errors;
if (errors === _errs1) {
if (typeof data0 === "string") {
if (func3(data0) > 200) {
validate146.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/maxLength", keyword: "maxLength", params: { limit: 200 } }];
return false;
} else {
if (func3(data0) < 1) {
validate146.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate146.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.prompt !== undefined) {
let data1 = data.prompt;
const _errs3 = errors;
if (errors === _errs3) {
if (typeof data1 === "string") {
if (func3(data1) > 32000) {
validate146.errors = [{ instancePath: instancePath + "/prompt", schemaPath: "#/properties/prompt/maxLength", keyword: "maxLength", params: { limit: 32000 } }];
return false;
} else {
if (func3(data1) < 1) {
validate146.errors = [{ instancePath: instancePath + "/prompt", schemaPath: "#/properties/prompt/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate146.errors = [{ instancePath: instancePath + "/prompt", schemaPath: "#/properties/prompt/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.stream !== undefined) {
const _errs5 = errors;
if (typeof data.stream !== "boolean") {
validate146.errors = [{ instancePath: instancePath + "/stream", schemaPath: "#/properties/stream/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.n !== undefined) {
let data3 = data.n;
const _errs7 = errors;
if (!(typeof data3 == "number" && (!(data3 % 1) && !isNaN(data3)) && isFinite(data3))) {
validate146.errors = [{ instancePath: instancePath + "/n", schemaPath: "#/properties/n/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs7) {
if (typeof data3 == "number" && isFinite(data3)) {
if (data3 < 1 || isNaN(data3)) {
validate146.errors = [{ instancePath: instancePath + "/n", schemaPath: "#/properties/n/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.size !== undefined) {
let data4 = data.size;
const _errs9 = errors;
if (errors === _errs9) {
if (typeof data4 === "string") {
if (func3(data4) > 40) {
validate146.errors = [{ instancePath: instancePath + "/size", schemaPath: "#/properties/size/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
}
} else {
validate146.errors = [{ instancePath: instancePath + "/size", schemaPath: "#/properties/size/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs9 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.quality !== undefined) {
let data5 = data.quality;
const _errs11 = errors;
if (errors === _errs11) {
if (typeof data5 === "string") {
if (func3(data5) > 40) {
validate146.errors = [{ instancePath: instancePath + "/quality", schemaPath: "#/properties/quality/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
}
} else {
validate146.errors = [{ instancePath: instancePath + "/quality", schemaPath: "#/properties/quality/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs11 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.style !== undefined) {
let data6 = data.style;
const _errs13 = errors;
if (typeof data6 !== "string") {
validate146.errors = [{ instancePath: instancePath + "/style", schemaPath: "#/properties/style/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data6 === "vivid" || data6 === "natural")) {
validate146.errors = [{ instancePath: instancePath + "/style", schemaPath: "#/properties/style/enum", keyword: "enum", params: { allowedValues: schema154.properties.style.enum } }];
return false;
}
var valid0 = _errs13 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.response_format !== undefined) {
let data7 = data.response_format;
const _errs15 = errors;
if (typeof data7 !== "string") {
validate146.errors = [{ instancePath: instancePath + "/response_format", schemaPath: "#/properties/response_format/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data7 === "url" || data7 === "b64_json")) {
validate146.errors = [{ instancePath: instancePath + "/response_format", schemaPath: "#/properties/response_format/enum", keyword: "enum", params: { allowedValues: schema154.properties.response_format.enum } }];
return false;
}
var valid0 = _errs15 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.aspect_ratio !== undefined) {
let data8 = data.aspect_ratio;
const _errs17 = errors;
if (errors === _errs17) {
if (typeof data8 === "string") {
if (func3(data8) > 40) {
validate146.errors = [{ instancePath: instancePath + "/aspect_ratio", schemaPath: "#/properties/aspect_ratio/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
}
} else {
validate146.errors = [{ instancePath: instancePath + "/aspect_ratio", schemaPath: "#/properties/aspect_ratio/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs17 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.image_size !== undefined) {
let data9 = data.image_size;
const _errs19 = errors;
if (errors === _errs19) {
if (typeof data9 === "string") {
if (func3(data9) > 40) {
validate146.errors = [{ instancePath: instancePath + "/image_size", schemaPath: "#/properties/image_size/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
}
} else {
validate146.errors = [{ instancePath: instancePath + "/image_size", schemaPath: "#/properties/image_size/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs19 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.strength !== undefined) {
let data10 = data.strength;
const _errs21 = errors;
if (!(typeof data10 == "number" && isFinite(data10))) {
validate146.errors = [{ instancePath: instancePath + "/strength", schemaPath: "#/properties/strength/type", keyword: "type", params: { type: "number" } }];
return false;
}
var valid0 = _errs21 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.person_generation !== undefined) {
let data11 = data.person_generation;
const _errs23 = errors;
if (typeof data11 !== "string") {
validate146.errors = [{ instancePath: instancePath + "/person_generation", schemaPath: "#/properties/person_generation/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data11 === "dont_allow" || data11 === "allow_adult" || data11 === "allow_all")) {
validate146.errors = [{ instancePath: instancePath + "/person_generation", schemaPath: "#/properties/person_generation/enum", keyword: "enum", params: { allowedValues: schema154.properties.person_generation.enum } }];
return false;
}
var valid0 = _errs23 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.background !== undefined) {
let data12 = data.background;
const _errs25 = errors;
if (typeof data12 !== "string") {
validate146.errors = [{ instancePath: instancePath + "/background", schemaPath: "#/properties/background/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data12 === "transparent" || data12 === "opaque" || data12 === "auto")) {
validate146.errors = [{ instancePath: instancePath + "/background", schemaPath: "#/properties/background/enum", keyword: "enum", params: { allowedValues: schema154.properties.background.enum } }];
return false;
}
var valid0 = _errs25 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.output_format !== undefined) {
let data13 = data.output_format;
const _errs27 = errors;
if (typeof data13 !== "string") {
validate146.errors = [{ instancePath: instancePath + "/output_format", schemaPath: "#/properties/output_format/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data13 === "png" || data13 === "webp" || data13 === "jpeg")) {
validate146.errors = [{ instancePath: instancePath + "/output_format", schemaPath: "#/properties/output_format/enum", keyword: "enum", params: { allowedValues: schema154.properties.output_format.enum } }];
return false;
}
var valid0 = _errs27 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.output_compression !== undefined) {
let data14 = data.output_compression;
const _errs29 = errors;
if (!(typeof data14 == "number" && (!(data14 % 1) && !isNaN(data14)) && isFinite(data14))) {
validate146.errors = [{ instancePath: instancePath + "/output_compression", schemaPath: "#/properties/output_compression/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs29) {
if (typeof data14 == "number" && isFinite(data14)) {
if (data14 > 100 || isNaN(data14)) {
validate146.errors = [{ instancePath: instancePath + "/output_compression", schemaPath: "#/properties/output_compression/maximum", keyword: "maximum", params: { comparison: "<=", limit: 100 } }];
return false;
} else {
if (data14 < 0 || isNaN(data14)) {
validate146.errors = [{ instancePath: instancePath + "/output_compression", schemaPath: "#/properties/output_compression/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
if (data.input_fidelity !== undefined) {
let data15 = data.input_fidelity;
const _errs31 = errors;
if (typeof data15 !== "string") {
validate146.errors = [{ instancePath: instancePath + "/input_fidelity", schemaPath: "#/properties/input_fidelity/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data15 === "high" || data15 === "low")) {
validate146.errors = [{ instancePath: instancePath + "/input_fidelity", schemaPath: "#/properties/input_fidelity/enum", keyword: "enum", params: { allowedValues: schema154.properties.input_fidelity.enum } }];
return false;
}
var valid0 = _errs31 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.moderation !== undefined) {
let data16 = data.moderation;
const _errs33 = errors;
if (typeof data16 !== "string") {
validate146.errors = [{ instancePath: instancePath + "/moderation", schemaPath: "#/properties/moderation/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data16 === "auto" || data16 === "low")) {
validate146.errors = [{ instancePath: instancePath + "/moderation", schemaPath: "#/properties/moderation/enum", keyword: "enum", params: { allowedValues: schema154.properties.moderation.enum } }];
return false;
}
var valid0 = _errs33 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.negative_prompt !== undefined) {
let data17 = data.negative_prompt;
const _errs35 = errors;
if (errors === _errs35) {
if (typeof data17 === "string") {
if (func3(data17) > 32000) {
validate146.errors = [{ instancePath: instancePath + "/negative_prompt", schemaPath: "#/properties/negative_prompt/maxLength", keyword: "maxLength", params: { limit: 32000 } }];
return false;
}
} else {
validate146.errors = [{ instancePath: instancePath + "/negative_prompt", schemaPath: "#/properties/negative_prompt/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs35 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.seed !== undefined) {
let data18 = data.seed;
const _errs37 = errors;
if (!(typeof data18 == "number" && (!(data18 % 1) && !isNaN(data18)) && isFinite(data18))) {
validate146.errors = [{ instancePath: instancePath + "/seed", schemaPath: "#/properties/seed/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs37) {
if (typeof data18 == "number" && isFinite(data18)) {
if (data18 > 9007199254740991 || isNaN(data18)) {
validate146.errors = [{ instancePath: instancePath + "/seed", schemaPath: "#/properties/seed/maximum", keyword: "maximum", params: { comparison: "<=", limit: 9007199254740991 } }];
return false;
} else {
if (data18 < -9007199254740991 || isNaN(data18)) {
validate146.errors = [{ instancePath: instancePath + "/seed", schemaPath: "#/properties/seed/minimum", keyword: "minimum", params: { comparison: ">=", limit: -9007199254740991 } }];
return false;
}
}
}
}
var valid0 = _errs37 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.steps !== undefined) {
let data19 = data.steps;
const _errs39 = errors;
if (!(typeof data19 == "number" && (!(data19 % 1) && !isNaN(data19)) && isFinite(data19))) {
validate146.errors = [{ instancePath: instancePath + "/steps", schemaPath: "#/properties/steps/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs39) {
if (typeof data19 == "number" && isFinite(data19)) {
if (data19 > 100 || isNaN(data19)) {
validate146.errors = [{ instancePath: instancePath + "/steps", schemaPath: "#/properties/steps/maximum", keyword: "maximum", params: { comparison: "<=", limit: 100 } }];
return false;
} else {
if (data19 < 1 || isNaN(data19)) {
validate146.errors = [{ instancePath: instancePath + "/steps", schemaPath: "#/properties/steps/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
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
if (data.prompt_extend !== undefined) {
const _errs41 = errors;
if (typeof data.prompt_extend !== "boolean") {
validate146.errors = [{ instancePath: instancePath + "/prompt_extend", schemaPath: "#/properties/prompt_extend/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs41 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.user !== undefined) {
let data21 = data.user;
const _errs43 = errors;
if (errors === _errs43) {
if (typeof data21 === "string") {
if (func3(data21) > 512) {
validate146.errors = [{ instancePath: instancePath + "/user", schemaPath: "#/properties/user/maxLength", keyword: "maxLength", params: { limit: 512 } }];
return false;
}
} else {
validate146.errors = [{ instancePath: instancePath + "/user", schemaPath: "#/properties/user/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs43 === errors;
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
} else {
validate146.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate146.errors = vErrors;
return errors === 0;
}
validate146.evaluated = { props: { model: true, prompt: true, stream: true, n: true, size: true, quality: true, style: true, response_format: true, aspect_ratio: true, image_size: true, strength: true, person_generation: true, background: true, output_format: true, output_compression: true, input_fidelity: true, moderation: true, negative_prompt: true, seed: true, steps: true, prompt_extend: true, user: true }, dynamicProps: false, dynamicItems: false };
var validateMeshGenerationRequest = validate147;
function validate147(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate147.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.model === undefined && (missing0 = "model")) {
validate147.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.model !== undefined) {
let data0 = data.model;
const _errs1 = errors;
if (errors === _errs1) {
if (typeof data0 === "string") {
if (func3(data0) > 200) {
validate147.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/maxLength", keyword: "maxLength", params: { limit: 200 } }];
return false;
} else {
if (func3(data0) < 1) {
validate147.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate147.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.prompt !== undefined) {
let data1 = data.prompt;
const _errs3 = errors;
if (errors === _errs3) {
if (typeof data1 === "string") {
if (func3(data1) > 5000) {
validate147.errors = [{ instancePath: instancePath + "/prompt", schemaPath: "#/properties/prompt/maxLength", keyword: "maxLength", params: { limit: 5000 } }];
return false;
}
} else {
validate147.errors = [{ instancePath: instancePath + "/prompt", schemaPath: "#/properties/prompt/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.image_url !== undefined) {
let data2 = data.image_url;
const _errs5 = errors;
if (errors === _errs5) {
if (typeof data2 === "string") {
if (func3(data2) < 1) {
validate147.errors = [{ instancePath: instancePath + "/image_url", schemaPath: "#/properties/image_url/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate147.errors = [{ instancePath: instancePath + "/image_url", schemaPath: "#/properties/image_url/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.image_file_id !== undefined) {
let data3 = data.image_file_id;
const _errs7 = errors;
if (errors === _errs7) {
if (typeof data3 === "string") {
if (func3(data3) > 100) {
validate147.errors = [{ instancePath: instancePath + "/image_file_id", schemaPath: "#/properties/image_file_id/maxLength", keyword: "maxLength", params: { limit: 100 } }];
return false;
} else {
if (func3(data3) < 1) {
validate147.errors = [{ instancePath: instancePath + "/image_file_id", schemaPath: "#/properties/image_file_id/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate147.errors = [{ instancePath: instancePath + "/image_file_id", schemaPath: "#/properties/image_file_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.mesh_url !== undefined) {
let data4 = data.mesh_url;
const _errs9 = errors;
if (errors === _errs9) {
if (typeof data4 === "string") {
if (func3(data4) > 8000) {
validate147.errors = [{ instancePath: instancePath + "/mesh_url", schemaPath: "#/properties/mesh_url/maxLength", keyword: "maxLength", params: { limit: 8000 } }];
return false;
} else {
if (func3(data4) < 1) {
validate147.errors = [{ instancePath: instancePath + "/mesh_url", schemaPath: "#/properties/mesh_url/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate147.errors = [{ instancePath: instancePath + "/mesh_url", schemaPath: "#/properties/mesh_url/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs9 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.mesh_file_id !== undefined) {
let data5 = data.mesh_file_id;
const _errs11 = errors;
if (errors === _errs11) {
if (typeof data5 === "string") {
if (func3(data5) > 100) {
validate147.errors = [{ instancePath: instancePath + "/mesh_file_id", schemaPath: "#/properties/mesh_file_id/maxLength", keyword: "maxLength", params: { limit: 100 } }];
return false;
} else {
if (func3(data5) < 1) {
validate147.errors = [{ instancePath: instancePath + "/mesh_file_id", schemaPath: "#/properties/mesh_file_id/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate147.errors = [{ instancePath: instancePath + "/mesh_file_id", schemaPath: "#/properties/mesh_file_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs11 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.seed !== undefined) {
let data6 = data.seed;
const _errs13 = errors;
if (!(typeof data6 == "number" && (!(data6 % 1) && !isNaN(data6)) && isFinite(data6))) {
validate147.errors = [{ instancePath: instancePath + "/seed", schemaPath: "#/properties/seed/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs13) {
if (typeof data6 == "number" && isFinite(data6)) {
if (data6 > 9007199254740991 || isNaN(data6)) {
validate147.errors = [{ instancePath: instancePath + "/seed", schemaPath: "#/properties/seed/maximum", keyword: "maximum", params: { comparison: "<=", limit: 9007199254740991 } }];
return false;
} else {
if (data6 < -9007199254740991 || isNaN(data6)) {
validate147.errors = [{ instancePath: instancePath + "/seed", schemaPath: "#/properties/seed/minimum", keyword: "minimum", params: { comparison: ">=", limit: -9007199254740991 } }];
return false;
}
}
}
}
var valid0 = _errs13 === errors;
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
} else {
validate147.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate147.errors = vErrors;
return errors === 0;
}
validate147.evaluated = { props: { model: true, prompt: true, image_url: true, image_file_id: true, mesh_url: true, mesh_file_id: true, seed: true }, dynamicProps: false, dynamicItems: false };
var validateMessagesRequest = validate148;
var schema156 = { type: "object", required: ["model", "max_tokens", "messages"], properties: { model: { $ref: "MessagesModel" }, max_tokens: { type: "integer", minimum: 1, maximum: 2147483647 }, messages: { $ref: "MessagesTurns" }, system: { $ref: "MessagesSystem" }, stream: { type: ["boolean", "null"] }, stop_sequences: { type: ["array", "null"], maxItems: 16, items: { type: "string" } }, temperature: { type: ["number", "null"], minimum: 0, maximum: 1 }, top_p: { type: ["number", "null"], minimum: 0, maximum: 1 }, top_k: { type: ["integer", "null"], minimum: 0 }, tools: { $ref: "MessagesTools" }, tool_choice: { $ref: "MessagesToolChoice" }, thinking: { $ref: "MessagesThinking" }, output_config: { $ref: "MessagesOutputConfig" }, metadata: { type: ["object", "null"], properties: { user_id: { type: ["string", "null"], maxLength: 512 } } }, cache_control: { $ref: "MessagesCacheControl" }, speed: { enum: ["standard", null] }, container: { type: "null" }, mcp_servers: { type: ["array", "null"], maxItems: 0 } } };
function validate148(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate148.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.model === undefined && (missing0 = "model") || data.max_tokens === undefined && (missing0 = "max_tokens") || data.messages === undefined && (missing0 = "messages")) {
validate148.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.model !== undefined) {
let data0 = data.model;
const _errs1 = errors;
const _errs2 = errors;
if (errors === _errs2) {
if (typeof data0 === "string") {
if (func3(data0) > 200) {
validate148.errors = [{ instancePath: instancePath + "/model", schemaPath: "MessagesModel/maxLength", keyword: "maxLength", params: { limit: 200 } }];
return false;
} else {
if (func3(data0) < 1) {
validate148.errors = [{ instancePath: instancePath + "/model", schemaPath: "MessagesModel/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate148.errors = [{ instancePath: instancePath + "/model", schemaPath: "MessagesModel/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.max_tokens !== undefined) {
let data1 = data.max_tokens;
const _errs4 = errors;
if (!(typeof data1 == "number" && (!(data1 % 1) && !isNaN(data1)) && isFinite(data1))) {
validate148.errors = [{ instancePath: instancePath + "/max_tokens", schemaPath: "#/properties/max_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs4) {
if (typeof data1 == "number" && isFinite(data1)) {
if (data1 > 2147483647 || isNaN(data1)) {
validate148.errors = [{ instancePath: instancePath + "/max_tokens", schemaPath: "#/properties/max_tokens/maximum", keyword: "maximum", params: { comparison: "<=", limit: 2147483647 } }];
return false;
} else {
if (data1 < 1 || isNaN(data1)) {
validate148.errors = [{ instancePath: instancePath + "/max_tokens", schemaPath: "#/properties/max_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.messages !== undefined) {
const _errs6 = errors;
if (!validate89(data.messages, { instancePath: instancePath + "/messages", parentData: data, parentDataProperty: "messages", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate89.errors : vErrors.concat(validate89.errors);
errors = vErrors.length;
}
var valid0 = _errs6 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.system !== undefined) {
const _errs7 = errors;
if (!validate134(data.system, { instancePath: instancePath + "/system", parentData: data, parentDataProperty: "system", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate134.errors : vErrors.concat(validate134.errors);
errors = vErrors.length;
}
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.stream !== undefined) {
let data4 = data.stream;
const _errs8 = errors;
if (typeof data4 !== "boolean" && data4 !== null) {
validate148.errors = [{ instancePath: instancePath + "/stream", schemaPath: "#/properties/stream/type", keyword: "type", params: { type: schema156.properties.stream.type } }];
return false;
}
var valid0 = _errs8 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.stop_sequences !== undefined) {
let data5 = data.stop_sequences;
const _errs10 = errors;
if (!Array.isArray(data5) && data5 !== null) {
validate148.errors = [{ instancePath: instancePath + "/stop_sequences", schemaPath: "#/properties/stop_sequences/type", keyword: "type", params: { type: schema156.properties.stop_sequences.type } }];
return false;
}
if (errors === _errs10) {
if (Array.isArray(data5)) {
if (data5.length > 16) {
validate148.errors = [{ instancePath: instancePath + "/stop_sequences", schemaPath: "#/properties/stop_sequences/maxItems", keyword: "maxItems", params: { limit: 16 } }];
return false;
} else {
var valid2 = true;
const len0 = data5.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs12 = errors;
if (typeof data5[i0] !== "string") {
validate148.errors = [{ instancePath: instancePath + "/stop_sequences/" + i0, schemaPath: "#/properties/stop_sequences/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid2 = _errs12 === errors;
if (!valid2) {
break;
}
}
}
}
}
var valid0 = _errs10 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.temperature !== undefined) {
let data7 = data.temperature;
const _errs14 = errors;
if (!(typeof data7 == "number" && isFinite(data7)) && data7 !== null) {
validate148.errors = [{ instancePath: instancePath + "/temperature", schemaPath: "#/properties/temperature/type", keyword: "type", params: { type: schema156.properties.temperature.type } }];
return false;
}
if (errors === _errs14) {
if (typeof data7 == "number" && isFinite(data7)) {
if (data7 > 1 || isNaN(data7)) {
validate148.errors = [{ instancePath: instancePath + "/temperature", schemaPath: "#/properties/temperature/maximum", keyword: "maximum", params: { comparison: "<=", limit: 1 } }];
return false;
} else {
if (data7 < 0 || isNaN(data7)) {
validate148.errors = [{ instancePath: instancePath + "/temperature", schemaPath: "#/properties/temperature/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
if (data.top_p !== undefined) {
let data8 = data.top_p;
const _errs16 = errors;
if (!(typeof data8 == "number" && isFinite(data8)) && data8 !== null) {
validate148.errors = [{ instancePath: instancePath + "/top_p", schemaPath: "#/properties/top_p/type", keyword: "type", params: { type: schema156.properties.top_p.type } }];
return false;
}
if (errors === _errs16) {
if (typeof data8 == "number" && isFinite(data8)) {
if (data8 > 1 || isNaN(data8)) {
validate148.errors = [{ instancePath: instancePath + "/top_p", schemaPath: "#/properties/top_p/maximum", keyword: "maximum", params: { comparison: "<=", limit: 1 } }];
return false;
} else {
if (data8 < 0 || isNaN(data8)) {
validate148.errors = [{ instancePath: instancePath + "/top_p", schemaPath: "#/properties/top_p/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
if (data.top_k !== undefined) {
let data9 = data.top_k;
const _errs18 = errors;
if (!(typeof data9 == "number" && (!(data9 % 1) && !isNaN(data9)) && isFinite(data9)) && data9 !== null) {
validate148.errors = [{ instancePath: instancePath + "/top_k", schemaPath: "#/properties/top_k/type", keyword: "type", params: { type: schema156.properties.top_k.type } }];
return false;
}
if (errors === _errs18) {
if (typeof data9 == "number" && isFinite(data9)) {
if (data9 < 0 || isNaN(data9)) {
validate148.errors = [{ instancePath: instancePath + "/top_k", schemaPath: "#/properties/top_k/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs18 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.tools !== undefined) {
const _errs20 = errors;
if (!validate137(data.tools, { instancePath: instancePath + "/tools", parentData: data, parentDataProperty: "tools", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate137.errors : vErrors.concat(validate137.errors);
errors = vErrors.length;
}
var valid0 = _errs20 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.tool_choice !== undefined) {
let data11 = data.tool_choice;
const _errs21 = errors;
const _errs22 = errors;
if (!(data11 && typeof data11 == "object" && !Array.isArray(data11)) && data11 !== null) {
validate148.errors = [{ instancePath: instancePath + "/tool_choice", schemaPath: "MessagesToolChoice/type", keyword: "type", params: { type: schema146.type } }];
return false;
}
if (errors === _errs22) {
if (data11 && typeof data11 == "object" && !Array.isArray(data11)) {
let missing1;
if (data11.type === undefined && (missing1 = "type")) {
validate148.errors = [{ instancePath: instancePath + "/tool_choice", schemaPath: "MessagesToolChoice/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data11.type !== undefined) {
let data12 = data11.type;
const _errs24 = errors;
if (!(data12 === "auto" || data12 === "any" || data12 === "tool" || data12 === "none")) {
validate148.errors = [{ instancePath: instancePath + "/tool_choice/type", schemaPath: "MessagesToolChoice/properties/type/enum", keyword: "enum", params: { allowedValues: schema146.properties.type.enum } }];
return false;
}
var valid4 = _errs24 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data11.name !== undefined) {
const _errs25 = errors;
if (typeof data11.name !== "string") {
validate148.errors = [{ instancePath: instancePath + "/tool_choice/name", schemaPath: "MessagesToolChoice/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid4 = _errs25 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data11.disable_parallel_tool_use !== undefined) {
let data14 = data11.disable_parallel_tool_use;
const _errs27 = errors;
if (typeof data14 !== "boolean" && data14 !== null) {
validate148.errors = [{ instancePath: instancePath + "/tool_choice/disable_parallel_tool_use", schemaPath: "MessagesToolChoice/properties/disable_parallel_tool_use/type", keyword: "type", params: { type: schema146.properties.disable_parallel_tool_use.type } }];
return false;
}
var valid4 = _errs27 === errors;
} else {
var valid4 = true;
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
if (valid0) {
if (data.thinking !== undefined) {
let data15 = data.thinking;
const _errs29 = errors;
const _errs30 = errors;
if (!(data15 && typeof data15 == "object" && !Array.isArray(data15)) && data15 !== null) {
validate148.errors = [{ instancePath: instancePath + "/thinking", schemaPath: "MessagesThinking/type", keyword: "type", params: { type: schema147.type } }];
return false;
}
if (errors === _errs30) {
if (data15 && typeof data15 == "object" && !Array.isArray(data15)) {
let missing2;
if (data15.type === undefined && (missing2 = "type")) {
validate148.errors = [{ instancePath: instancePath + "/thinking", schemaPath: "MessagesThinking/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data15.type !== undefined) {
let data16 = data15.type;
const _errs32 = errors;
if (!(data16 === "enabled" || data16 === "adaptive" || data16 === "disabled")) {
validate148.errors = [{ instancePath: instancePath + "/thinking/type", schemaPath: "MessagesThinking/properties/type/enum", keyword: "enum", params: { allowedValues: schema147.properties.type.enum } }];
return false;
}
var valid6 = _errs32 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data15.budget_tokens !== undefined) {
let data17 = data15.budget_tokens;
const _errs33 = errors;
if (!(typeof data17 == "number" && (!(data17 % 1) && !isNaN(data17)) && isFinite(data17)) && data17 !== null) {
validate148.errors = [{ instancePath: instancePath + "/thinking/budget_tokens", schemaPath: "MessagesThinking/properties/budget_tokens/type", keyword: "type", params: { type: schema147.properties.budget_tokens.type } }];
return false;
}
if (errors === _errs33) {
if (typeof data17 == "number" && isFinite(data17)) {
if (data17 < 1 || isNaN(data17)) {
validate148.errors = [{ instancePath: instancePath + "/thinking/budget_tokens", schemaPath: "MessagesThinking/properties/budget_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
var valid6 = _errs33 === errors;
} else {
var valid6 = true;
}
}
}
}
}
var valid0 = _errs29 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.output_config !== undefined) {
let data18 = data.output_config;
const _errs35 = errors;
const _errs36 = errors;
if (!(data18 && typeof data18 == "object" && !Array.isArray(data18)) && data18 !== null) {
validate148.errors = [{ instancePath: instancePath + "/output_config", schemaPath: "MessagesOutputConfig/type", keyword: "type", params: { type: schema148.type } }];
return false;
}
if (errors === _errs36) {
if (data18 && typeof data18 == "object" && !Array.isArray(data18)) {
if (data18.effort !== undefined) {
let data19 = data18.effort;
const _errs38 = errors;
if (typeof data19 !== "string" && data19 !== null) {
validate148.errors = [{ instancePath: instancePath + "/output_config/effort", schemaPath: "MessagesOutputConfig/properties/effort/type", keyword: "type", params: { type: schema148.properties.effort.type } }];
return false;
}
if (errors === _errs38) {
if (typeof data19 === "string") {
if (func3(data19) > 40) {
validate148.errors = [{ instancePath: instancePath + "/output_config/effort", schemaPath: "MessagesOutputConfig/properties/effort/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
} else {
if (func3(data19) < 1) {
validate148.errors = [{ instancePath: instancePath + "/output_config/effort", schemaPath: "MessagesOutputConfig/properties/effort/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
}
}
var valid8 = _errs38 === errors;
} else {
var valid8 = true;
}
if (valid8) {
if (data18.format !== undefined) {
let data20 = data18.format;
const _errs40 = errors;
if (!(data20 && typeof data20 == "object" && !Array.isArray(data20)) && data20 !== null) {
validate148.errors = [{ instancePath: instancePath + "/output_config/format", schemaPath: "MessagesOutputConfig/properties/format/type", keyword: "type", params: { type: schema148.properties.format.type } }];
return false;
}
if (errors === _errs40) {
if (data20 && typeof data20 == "object" && !Array.isArray(data20)) {
let missing3;
if (data20.type === undefined && (missing3 = "type") || data20.schema === undefined && (missing3 = "schema")) {
validate148.errors = [{ instancePath: instancePath + "/output_config/format", schemaPath: "MessagesOutputConfig/properties/format/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data20.type !== undefined) {
const _errs42 = errors;
if (data20.type !== "json_schema") {
validate148.errors = [{ instancePath: instancePath + "/output_config/format/type", schemaPath: "MessagesOutputConfig/properties/format/properties/type/const", keyword: "const", params: { allowedValue: "json_schema" } }];
return false;
}
var valid9 = _errs42 === errors;
} else {
var valid9 = true;
}
if (valid9) {
if (data20.schema !== undefined) {
let data22 = data20.schema;
const _errs43 = errors;
if (!(data22 && typeof data22 == "object" && !Array.isArray(data22))) {
validate148.errors = [{ instancePath: instancePath + "/output_config/format/schema", schemaPath: "MessagesOutputConfig/properties/format/properties/schema/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid9 = _errs43 === errors;
} else {
var valid9 = true;
}
}
}
}
}
var valid8 = _errs40 === errors;
} else {
var valid8 = true;
}
}
}
}
var valid0 = _errs35 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.metadata !== undefined) {
let data23 = data.metadata;
const _errs45 = errors;
if (!(data23 && typeof data23 == "object" && !Array.isArray(data23)) && data23 !== null) {
validate148.errors = [{ instancePath: instancePath + "/metadata", schemaPath: "#/properties/metadata/type", keyword: "type", params: { type: schema156.properties.metadata.type } }];
return false;
}
if (errors === _errs45) {
if (data23 && typeof data23 == "object" && !Array.isArray(data23)) {
if (data23.user_id !== undefined) {
let data24 = data23.user_id;
const _errs47 = errors;
if (typeof data24 !== "string" && data24 !== null) {
validate148.errors = [{ instancePath: instancePath + "/metadata/user_id", schemaPath: "#/properties/metadata/properties/user_id/type", keyword: "type", params: { type: schema156.properties.metadata.properties.user_id.type } }];
return false;
}
if (errors === _errs47) {
if (typeof data24 === "string") {
if (func3(data24) > 512) {
validate148.errors = [{ instancePath: instancePath + "/metadata/user_id", schemaPath: "#/properties/metadata/properties/user_id/maxLength", keyword: "maxLength", params: { limit: 512 } }];
return false;
}
}
}
}
}
}
var valid0 = _errs45 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.cache_control !== undefined) {
let data25 = data.cache_control;
const _errs49 = errors;
const _errs50 = errors;
if (!(data25 && typeof data25 == "object" && !Array.isArray(data25)) && data25 !== null) {
validate148.errors = [{ instancePath: instancePath + "/cache_control", schemaPath: "MessagesCacheControl/type", keyword: "type", params: { type: schema114.type } }];
return false;
}
if (errors === _errs50) {
if (data25 && typeof data25 == "object" && !Array.isArray(data25)) {
let missing4;
if (data25.type === undefined && (missing4 = "type")) {
validate148.errors = [{ instancePath: instancePath + "/cache_control", schemaPath: "MessagesCacheControl/required", keyword: "required", params: { missingProperty: missing4 } }];
return false;
} else {
if (data25.type !== undefined) {
const _errs52 = errors;
if (data25.type !== "ephemeral") {
validate148.errors = [{ instancePath: instancePath + "/cache_control/type", schemaPath: "MessagesCacheControl/properties/type/const", keyword: "const", params: { allowedValue: "ephemeral" } }];
return false;
}
var valid12 = _errs52 === errors;
} else {
var valid12 = true;
}
if (valid12) {
if (data25.ttl !== undefined) {
let data27 = data25.ttl;
const _errs53 = errors;
if (!(data27 === "5m" || data27 === "1h" || data27 === null)) {
validate148.errors = [{ instancePath: instancePath + "/cache_control/ttl", schemaPath: "MessagesCacheControl/properties/ttl/enum", keyword: "enum", params: { allowedValues: schema114.properties.ttl.enum } }];
return false;
}
var valid12 = _errs53 === errors;
} else {
var valid12 = true;
}
}
}
}
}
var valid0 = _errs49 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.speed !== undefined) {
let data28 = data.speed;
const _errs54 = errors;
if (!(data28 === "standard" || data28 === null)) {
validate148.errors = [{ instancePath: instancePath + "/speed", schemaPath: "#/properties/speed/enum", keyword: "enum", params: { allowedValues: schema156.properties.speed.enum } }];
return false;
}
var valid0 = _errs54 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.container !== undefined) {
const _errs55 = errors;
if (data.container !== null) {
validate148.errors = [{ instancePath: instancePath + "/container", schemaPath: "#/properties/container/type", keyword: "type", params: { type: "null" } }];
return false;
}
var valid0 = _errs55 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.mcp_servers !== undefined) {
let data30 = data.mcp_servers;
const _errs57 = errors;
if (!Array.isArray(data30) && data30 !== null) {
validate148.errors = [{ instancePath: instancePath + "/mcp_servers", schemaPath: "#/properties/mcp_servers/type", keyword: "type", params: { type: schema156.properties.mcp_servers.type } }];
return false;
}
if (errors === _errs57) {
if (Array.isArray(data30)) {
if (data30.length > 0) {
validate148.errors = [{ instancePath: instancePath + "/mcp_servers", schemaPath: "#/properties/mcp_servers/maxItems", keyword: "maxItems", params: { limit: 0 } }];
return false;
}
}
}
var valid0 = _errs57 === errors;
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
validate148.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate148.errors = vErrors;
return errors === 0;
}
validate148.evaluated = { props: { model: true, max_tokens: true, messages: true, system: true, stream: true, stop_sequences: true, temperature: true, top_p: true, top_k: true, tools: true, tool_choice: true, thinking: true, output_config: true, metadata: true, cache_control: true, speed: true, container: true, mcp_servers: true }, dynamicProps: false, dynamicItems: false };
var validateMusicGenerationRequest = validate152;
var schema162 = { type: "object", required: ["model", "prompt"], properties: { model: { type: "string", minLength: 1, maxLength: 200 }, prompt: { type: "string", minLength: 1, maxLength: 1e4 }, lyrics: { type: "string", minLength: 1, maxLength: 1e4 }, duration: { type: "integer", minimum: 1, maximum: 3600 }, seed: { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 }, response_format: { type: "string", enum: ["url", "b64_json"] }, output_format: { type: "string", enum: ["mp3", "opus", "aac", "flac", "wav", "pcm"] } } };
function validate152(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate152.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.model === undefined && (missing0 = "model") || data.prompt === undefined && (missing0 = "prompt")) {
validate152.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.model !== undefined) {
let data0 = data.model;
const _errs1 = errors;
if (errors === _errs1) {
if (typeof data0 === "string") {
if (func3(data0) > 200) {
validate152.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/maxLength", keyword: "maxLength", params: { limit: 200 } }];
return false;
} else {
if (func3(data0) < 1) {
validate152.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate152.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.prompt !== undefined) {
let data1 = data.prompt;
const _errs3 = errors;
if (errors === _errs3) {
if (typeof data1 === "string") {
if (func3(data1) > 1e4) {
validate152.errors = [{ instancePath: instancePath + "/prompt", schemaPath: "#/properties/prompt/maxLength", keyword: "maxLength", params: { limit: 1e4 } }];
return false;
} else {
if (func3(data1) < 1) {
validate152.errors = [{ instancePath: instancePath + "/prompt", schemaPath: "#/properties/prompt/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate152.errors = [{ instancePath: instancePath + "/prompt", schemaPath: "#/properties/prompt/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.lyrics !== undefined) {
let data2 = data.lyrics;
const _errs5 = errors;
if (errors === _errs5) {
if (typeof data2 === "string") {
if (func3(data2) > 1e4) {
validate152.errors = [{ instancePath: instancePath + "/lyrics", schemaPath: "#/properties/lyrics/maxLength", keyword: "maxLength", params: { limit: 1e4 } }];
return false;
} else {
if (func3(data2) < 1) {
validate152.errors = [{ instancePath: instancePath + "/lyrics", schemaPath: "#/properties/lyrics/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate152.errors = [{ instancePath: instancePath + "/lyrics", schemaPath: "#/properties/lyrics/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.duration !== undefined) {
let data3 = data.duration;
const _errs7 = errors;
if (!(typeof data3 == "number" && (!(data3 % 1) && !isNaN(data3)) && isFinite(data3))) {
validate152.errors = [{ instancePath: instancePath + "/duration", schemaPath: "#/properties/duration/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs7) {
if (typeof data3 == "number" && isFinite(data3)) {
if (data3 > 3600 || isNaN(data3)) {
validate152.errors = [{ instancePath: instancePath + "/duration", schemaPath: "#/properties/duration/maximum", keyword: "maximum", params: { comparison: "<=", limit: 3600 } }];
return false;
} else {
if (data3 < 1 || isNaN(data3)) {
validate152.errors = [{ instancePath: instancePath + "/duration", schemaPath: "#/properties/duration/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.seed !== undefined) {
let data4 = data.seed;
const _errs9 = errors;
if (!(typeof data4 == "number" && (!(data4 % 1) && !isNaN(data4)) && isFinite(data4))) {
validate152.errors = [{ instancePath: instancePath + "/seed", schemaPath: "#/properties/seed/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs9) {
if (typeof data4 == "number" && isFinite(data4)) {
if (data4 > 9007199254740991 || isNaN(data4)) {
validate152.errors = [{ instancePath: instancePath + "/seed", schemaPath: "#/properties/seed/maximum", keyword: "maximum", params: { comparison: "<=", limit: 9007199254740991 } }];
return false;
} else {
if (data4 < -9007199254740991 || isNaN(data4)) {
validate152.errors = [{ instancePath: instancePath + "/seed", schemaPath: "#/properties/seed/minimum", keyword: "minimum", params: { comparison: ">=", limit: -9007199254740991 } }];
return false;
}
}
}
}
var valid0 = _errs9 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.response_format !== undefined) {
let data5 = data.response_format;
const _errs11 = errors;
if (typeof data5 !== "string") {
validate152.errors = [{ instancePath: instancePath + "/response_format", schemaPath: "#/properties/response_format/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data5 === "url" || data5 === "b64_json")) {
validate152.errors = [{ instancePath: instancePath + "/response_format", schemaPath: "#/properties/response_format/enum", keyword: "enum", params: { allowedValues: schema162.properties.response_format.enum } }];
return false;
}
var valid0 = _errs11 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.output_format !== undefined) {
let data6 = data.output_format;
const _errs13 = errors;
if (typeof data6 !== "string") {
validate152.errors = [{ instancePath: instancePath + "/output_format", schemaPath: "#/properties/output_format/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data6 === "mp3" || data6 === "opus" || data6 === "aac" || data6 === "flac" || data6 === "wav" || data6 === "pcm")) {
validate152.errors = [{ instancePath: instancePath + "/output_format", schemaPath: "#/properties/output_format/enum", keyword: "enum", params: { allowedValues: schema162.properties.output_format.enum } }];
return false;
}
var valid0 = _errs13 === errors;
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
} else {
validate152.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate152.errors = vErrors;
return errors === 0;
}
validate152.evaluated = { props: { model: true, prompt: true, lyrics: true, duration: true, seed: true, response_format: true, output_format: true }, dynamicProps: false, dynamicItems: false };
var validateSpeechRequest = validate153;
var schema163 = { type: "object", required: ["model", "input"], properties: { model: { type: "string", minLength: 1, maxLength: 200 }, input: { type: "string", minLength: 1, maxLength: 4096 }, voice: { type: "string", minLength: 1, maxLength: 200 }, instructions: { type: "string", maxLength: 4096 }, response_format: { type: "string", enum: ["mp3", "opus", "aac", "flac", "wav", "pcm"] }, stream_format: { type: "string", enum: ["audio", "sse"] }, speed: { type: "number", minimum: 0.25, maximum: 4 } } };
function validate153(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate153.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.model === undefined && (missing0 = "model") || data.input === undefined && (missing0 = "input")) {
validate153.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.model !== undefined) {
let data0 = data.model;
const _errs1 = errors;
if (errors === _errs1) {
if (typeof data0 === "string") {
if (func3(data0) > 200) {
validate153.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/maxLength", keyword: "maxLength", params: { limit: 200 } }];
return false;
} else {
if (func3(data0) < 1) {
validate153.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate153.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.input !== undefined) {
let data1 = data.input;
const _errs3 = errors;
if (errors === _errs3) {
if (typeof data1 === "string") {
if (func3(data1) > 4096) {
validate153.errors = [{ instancePath: instancePath + "/input", schemaPath: "#/properties/input/maxLength", keyword: "maxLength", params: { limit: 4096 } }];
return false;
} else {
if (func3(data1) < 1) {
validate153.errors = [{ instancePath: instancePath + "/input", schemaPath: "#/properties/input/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate153.errors = [{ instancePath: instancePath + "/input", schemaPath: "#/properties/input/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.voice !== undefined) {
let data2 = data.voice;
const _errs5 = errors;
if (errors === _errs5) {
if (typeof data2 === "string") {
if (func3(data2) > 200) {
validate153.errors = [{ instancePath: instancePath + "/voice", schemaPath: "#/properties/voice/maxLength", keyword: "maxLength", params: { limit: 200 } }];
return false;
} else {
if (func3(data2) < 1) {
validate153.errors = [{ instancePath: instancePath + "/voice", schemaPath: "#/properties/voice/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate153.errors = [{ instancePath: instancePath + "/voice", schemaPath: "#/properties/voice/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.instructions !== undefined) {
let data3 = data.instructions;
const _errs7 = errors;
if (errors === _errs7) {
if (typeof data3 === "string") {
if (func3(data3) > 4096) {
validate153.errors = [{ instancePath: instancePath + "/instructions", schemaPath: "#/properties/instructions/maxLength", keyword: "maxLength", params: { limit: 4096 } }];
return false;
}
} else {
validate153.errors = [{ instancePath: instancePath + "/instructions", schemaPath: "#/properties/instructions/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.response_format !== undefined) {
let data4 = data.response_format;
const _errs9 = errors;
if (typeof data4 !== "string") {
validate153.errors = [{ instancePath: instancePath + "/response_format", schemaPath: "#/properties/response_format/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data4 === "mp3" || data4 === "opus" || data4 === "aac" || data4 === "flac" || data4 === "wav" || data4 === "pcm")) {
validate153.errors = [{ instancePath: instancePath + "/response_format", schemaPath: "#/properties/response_format/enum", keyword: "enum", params: { allowedValues: schema163.properties.response_format.enum } }];
return false;
}
var valid0 = _errs9 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.stream_format !== undefined) {
let data5 = data.stream_format;
const _errs11 = errors;
if (typeof data5 !== "string") {
validate153.errors = [{ instancePath: instancePath + "/stream_format", schemaPath: "#/properties/stream_format/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data5 === "audio" || data5 === "sse")) {
validate153.errors = [{ instancePath: instancePath + "/stream_format", schemaPath: "#/properties/stream_format/enum", keyword: "enum", params: { allowedValues: schema163.properties.stream_format.enum } }];
return false;
}
var valid0 = _errs11 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.speed !== undefined) {
let data6 = data.speed;
const _errs13 = errors;
if (errors === _errs13) {
if (typeof data6 == "number" && isFinite(data6)) {
if (data6 > 4 || isNaN(data6)) {
validate153.errors = [{ instancePath: instancePath + "/speed", schemaPath: "#/properties/speed/maximum", keyword: "maximum", params: { comparison: "<=", limit: 4 } }];
return false;
} else {
if (data6 < 0.25 || isNaN(data6)) {
validate153.errors = [{ instancePath: instancePath + "/speed", schemaPath: "#/properties/speed/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0.25 } }];
return false;
}
}
} else {
validate153.errors = [{ instancePath: instancePath + "/speed", schemaPath: "#/properties/speed/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid0 = _errs13 === errors;
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
} else {
validate153.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate153.errors = vErrors;
return errors === 0;
}
validate153.evaluated = { props: { model: true, input: true, voice: true, instructions: true, response_format: true, stream_format: true, speed: true }, dynamicProps: false, dynamicItems: false };
var validateTranscriptionRequest = validate154;
var schema164 = { type: "object", required: ["model"], properties: { model: { type: "string", minLength: 1, maxLength: 200 }, audio_base64: { type: "string", minLength: 1 }, mime_type: { type: "string", maxLength: 100 }, file_id: { type: "string", minLength: 1, maxLength: 100 }, language: { type: "string", maxLength: 40 }, prompt: { type: "string", maxLength: 4096 }, response_format: { type: "string", enum: ["json", "text", "srt", "verbose_json", "vtt"] }, temperature: { type: "number", minimum: 0, maximum: 1 }, timestamp_granularities: { type: "array", maxItems: 2, items: { type: "string", enum: ["word", "segment"] } }, stream: { type: "boolean" } } };
function validate154(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate154.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.model === undefined && (missing0 = "model")) {
validate154.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.model !== undefined) {
let data0 = data.model;
const _errs1 = errors;
if (errors === _errs1) {
if (typeof data0 === "string") {
if (func3(data0) > 200) {
validate154.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/maxLength", keyword: "maxLength", params: { limit: 200 } }];
return false;
} else {
if (func3(data0) < 1) {
validate154.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate154.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.audio_base64 !== undefined) {
let data1 = data.audio_base64;
const _errs3 = errors;
if (errors === _errs3) {
if (typeof data1 === "string") {
if (func3(data1) < 1) {
validate154.errors = [{ instancePath: instancePath + "/audio_base64", schemaPath: "#/properties/audio_base64/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate154.errors = [{ instancePath: instancePath + "/audio_base64", schemaPath: "#/properties/audio_base64/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.mime_type !== undefined) {
let data2 = data.mime_type;
const _errs5 = errors;
if (errors === _errs5) {
if (typeof data2 === "string") {
if (func3(data2) > 100) {
validate154.errors = [{ instancePath: instancePath + "/mime_type", schemaPath: "#/properties/mime_type/maxLength", keyword: "maxLength", params: { limit: 100 } }];
return false;
}
} else {
validate154.errors = [{ instancePath: instancePath + "/mime_type", schemaPath: "#/properties/mime_type/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.file_id !== undefined) {
let data3 = data.file_id;
const _errs7 = errors;
if (errors === _errs7) {
if (typeof data3 === "string") {
if (func3(data3) > 100) {
validate154.errors = [{ instancePath: instancePath + "/file_id", schemaPath: "#/properties/file_id/maxLength", keyword: "maxLength", params: { limit: 100 } }];
return false;
} else {
if (func3(data3) < 1) {
validate154.errors = [{ instancePath: instancePath + "/file_id", schemaPath: "#/properties/file_id/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate154.errors = [{ instancePath: instancePath + "/file_id", schemaPath: "#/properties/file_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.language !== undefined) {
let data4 = data.language;
const _errs9 = errors;
if (errors === _errs9) {
if (typeof data4 === "string") {
if (func3(data4) > 40) {
validate154.errors = [{ instancePath: instancePath + "/language", schemaPath: "#/properties/language/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
}
} else {
validate154.errors = [{ instancePath: instancePath + "/language", schemaPath: "#/properties/language/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs9 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.prompt !== undefined) {
let data5 = data.prompt;
const _errs11 = errors;
if (errors === _errs11) {
if (typeof data5 === "string") {
if (func3(data5) > 4096) {
validate154.errors = [{ instancePath: instancePath + "/prompt", schemaPath: "#/properties/prompt/maxLength", keyword: "maxLength", params: { limit: 4096 } }];
return false;
}
} else {
validate154.errors = [{ instancePath: instancePath + "/prompt", schemaPath: "#/properties/prompt/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs11 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.response_format !== undefined) {
let data6 = data.response_format;
const _errs13 = errors;
if (typeof data6 !== "string") {
validate154.errors = [{ instancePath: instancePath + "/response_format", schemaPath: "#/properties/response_format/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data6 === "json" || data6 === "text" || data6 === "srt" || data6 === "verbose_json" || data6 === "vtt")) {
validate154.errors = [{ instancePath: instancePath + "/response_format", schemaPath: "#/properties/response_format/enum", keyword: "enum", params: { allowedValues: schema164.properties.response_format.enum } }];
return false;
}
var valid0 = _errs13 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.temperature !== undefined) {
let data7 = data.temperature;
const _errs15 = errors;
if (errors === _errs15) {
if (typeof data7 == "number" && isFinite(data7)) {
if (data7 > 1 || isNaN(data7)) {
validate154.errors = [{ instancePath: instancePath + "/temperature", schemaPath: "#/properties/temperature/maximum", keyword: "maximum", params: { comparison: "<=", limit: 1 } }];
return false;
} else {
if (data7 < 0 || isNaN(data7)) {
validate154.errors = [{ instancePath: instancePath + "/temperature", schemaPath: "#/properties/temperature/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
} else {
validate154.errors = [{ instancePath: instancePath + "/temperature", schemaPath: "#/properties/temperature/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid0 = _errs15 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.timestamp_granularities !== undefined) {
let data8 = data.timestamp_granularities;
const _errs17 = errors;
if (errors === _errs17) {
if (Array.isArray(data8)) {
if (data8.length > 2) {
validate154.errors = [{ instancePath: instancePath + "/timestamp_granularities", schemaPath: "#/properties/timestamp_granularities/maxItems", keyword: "maxItems", params: { limit: 2 } }];
return false;
} else {
var valid1 = true;
const len0 = data8.length;
for (let i0 = 0;i0 < len0; i0++) {
let data9 = data8[i0];
const _errs19 = errors;
if (typeof data9 !== "string") {
validate154.errors = [{ instancePath: instancePath + "/timestamp_granularities/" + i0, schemaPath: "#/properties/timestamp_granularities/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data9 === "word" || data9 === "segment")) {
validate154.errors = [{ instancePath: instancePath + "/timestamp_granularities/" + i0, schemaPath: "#/properties/timestamp_granularities/items/enum", keyword: "enum", params: { allowedValues: schema164.properties.timestamp_granularities.items.enum } }];
return false;
}
var valid1 = _errs19 === errors;
if (!valid1) {
break;
}
}
}
} else {
validate154.errors = [{ instancePath: instancePath + "/timestamp_granularities", schemaPath: "#/properties/timestamp_granularities/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs17 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.stream !== undefined) {
const _errs21 = errors;
if (typeof data.stream !== "boolean") {
validate154.errors = [{ instancePath: instancePath + "/stream", schemaPath: "#/properties/stream/type", keyword: "type", params: { type: "boolean" } }];
return false;
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
}
}
} else {
validate154.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate154.errors = vErrors;
return errors === 0;
}
validate154.evaluated = { props: { model: true, audio_base64: true, mime_type: true, file_id: true, language: true, prompt: true, response_format: true, temperature: true, timestamp_granularities: true, stream: true }, dynamicProps: false, dynamicItems: false };
var validateVideoGenerationRequest = validate155;
var schema165 = { type: "object", required: ["model", "prompt"], properties: { model: { type: "string", minLength: 1, maxLength: 200 }, prompt: { type: "string", minLength: 1, maxLength: 32000 }, image_url: { type: "string", minLength: 1 }, image_file_id: { type: "string", minLength: 1, maxLength: 100 }, video_url: { type: "string", minLength: 1, maxLength: 8000 }, video_file_id: { type: "string", minLength: 1, maxLength: 100 }, duration: { type: "integer", minimum: 1, maximum: 3600 }, resolution: { type: "string", maxLength: 40 }, aspect_ratio: { type: "string", maxLength: 40 }, seed: { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 }, negative_prompt: { type: "string", maxLength: 32000 }, person_generation: { type: "string", enum: ["dont_allow", "allow_adult", "allow_all"] } } };
function validate155(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate155.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.model === undefined && (missing0 = "model") || data.prompt === undefined && (missing0 = "prompt")) {
validate155.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.model !== undefined) {
let data0 = data.model;
const _errs1 = errors;
if (errors === _errs1) {
if (typeof data0 === "string") {
if (func3(data0) > 200) {
validate155.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/maxLength", keyword: "maxLength", params: { limit: 200 } }];
return false;
} else {
if (func3(data0) < 1) {
validate155.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate155.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.prompt !== undefined) {
let data1 = data.prompt;
const _errs3 = errors;
if (errors === _errs3) {
if (typeof data1 === "string") {
if (func3(data1) > 32000) {
validate155.errors = [{ instancePath: instancePath + "/prompt", schemaPath: "#/properties/prompt/maxLength", keyword: "maxLength", params: { limit: 32000 } }];
return false;
} else {
if (func3(data1) < 1) {
validate155.errors = [{ instancePath: instancePath + "/prompt", schemaPath: "#/properties/prompt/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate155.errors = [{ instancePath: instancePath + "/prompt", schemaPath: "#/properties/prompt/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.image_url !== undefined) {
let data2 = data.image_url;
const _errs5 = errors;
if (errors === _errs5) {
if (typeof data2 === "string") {
if (func3(data2) < 1) {
validate155.errors = [{ instancePath: instancePath + "/image_url", schemaPath: "#/properties/image_url/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
} else {
validate155.errors = [{ instancePath: instancePath + "/image_url", schemaPath: "#/properties/image_url/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.image_file_id !== undefined) {
let data3 = data.image_file_id;
const _errs7 = errors;
if (errors === _errs7) {
if (typeof data3 === "string") {
if (func3(data3) > 100) {
validate155.errors = [{ instancePath: instancePath + "/image_file_id", schemaPath: "#/properties/image_file_id/maxLength", keyword: "maxLength", params: { limit: 100 } }];
return false;
} else {
if (func3(data3) < 1) {
validate155.errors = [{ instancePath: instancePath + "/image_file_id", schemaPath: "#/properties/image_file_id/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate155.errors = [{ instancePath: instancePath + "/image_file_id", schemaPath: "#/properties/image_file_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.video_url !== undefined) {
let data4 = data.video_url;
const _errs9 = errors;
if (errors === _errs9) {
if (typeof data4 === "string") {
if (func3(data4) > 8000) {
validate155.errors = [{ instancePath: instancePath + "/video_url", schemaPath: "#/properties/video_url/maxLength", keyword: "maxLength", params: { limit: 8000 } }];
return false;
} else {
if (func3(data4) < 1) {
validate155.errors = [{ instancePath: instancePath + "/video_url", schemaPath: "#/properties/video_url/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate155.errors = [{ instancePath: instancePath + "/video_url", schemaPath: "#/properties/video_url/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs9 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.video_file_id !== undefined) {
let data5 = data.video_file_id;
const _errs11 = errors;
if (errors === _errs11) {
if (typeof data5 === "string") {
if (func3(data5) > 100) {
validate155.errors = [{ instancePath: instancePath + "/video_file_id", schemaPath: "#/properties/video_file_id/maxLength", keyword: "maxLength", params: { limit: 100 } }];
return false;
} else {
if (func3(data5) < 1) {
validate155.errors = [{ instancePath: instancePath + "/video_file_id", schemaPath: "#/properties/video_file_id/minLength", keyword: "minLength", params: { limit: 1 } }];
return false;
}
}
} else {
validate155.errors = [{ instancePath: instancePath + "/video_file_id", schemaPath: "#/properties/video_file_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs11 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.duration !== undefined) {
let data6 = data.duration;
const _errs13 = errors;
if (!(typeof data6 == "number" && (!(data6 % 1) && !isNaN(data6)) && isFinite(data6))) {
validate155.errors = [{ instancePath: instancePath + "/duration", schemaPath: "#/properties/duration/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs13) {
if (typeof data6 == "number" && isFinite(data6)) {
if (data6 > 3600 || isNaN(data6)) {
validate155.errors = [{ instancePath: instancePath + "/duration", schemaPath: "#/properties/duration/maximum", keyword: "maximum", params: { comparison: "<=", limit: 3600 } }];
return false;
} else {
if (data6 < 1 || isNaN(data6)) {
validate155.errors = [{ instancePath: instancePath + "/duration", schemaPath: "#/properties/duration/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
}
var valid0 = _errs13 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.resolution !== undefined) {
let data7 = data.resolution;
const _errs15 = errors;
if (errors === _errs15) {
if (typeof data7 === "string") {
if (func3(data7) > 40) {
validate155.errors = [{ instancePath: instancePath + "/resolution", schemaPath: "#/properties/resolution/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
}
} else {
validate155.errors = [{ instancePath: instancePath + "/resolution", schemaPath: "#/properties/resolution/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs15 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.aspect_ratio !== undefined) {
let data8 = data.aspect_ratio;
const _errs17 = errors;
if (errors === _errs17) {
if (typeof data8 === "string") {
if (func3(data8) > 40) {
validate155.errors = [{ instancePath: instancePath + "/aspect_ratio", schemaPath: "#/properties/aspect_ratio/maxLength", keyword: "maxLength", params: { limit: 40 } }];
return false;
}
} else {
validate155.errors = [{ instancePath: instancePath + "/aspect_ratio", schemaPath: "#/properties/aspect_ratio/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs17 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.seed !== undefined) {
let data9 = data.seed;
const _errs19 = errors;
if (!(typeof data9 == "number" && (!(data9 % 1) && !isNaN(data9)) && isFinite(data9))) {
validate155.errors = [{ instancePath: instancePath + "/seed", schemaPath: "#/properties/seed/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs19) {
if (typeof data9 == "number" && isFinite(data9)) {
if (data9 > 9007199254740991 || isNaN(data9)) {
validate155.errors = [{ instancePath: instancePath + "/seed", schemaPath: "#/properties/seed/maximum", keyword: "maximum", params: { comparison: "<=", limit: 9007199254740991 } }];
return false;
} else {
if (data9 < -9007199254740991 || isNaN(data9)) {
validate155.errors = [{ instancePath: instancePath + "/seed", schemaPath: "#/properties/seed/minimum", keyword: "minimum", params: { comparison: ">=", limit: -9007199254740991 } }];
return false;
}
}
}
}
var valid0 = _errs19 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.negative_prompt !== undefined) {
let data10 = data.negative_prompt;
const _errs21 = errors;
if (errors === _errs21) {
if (typeof data10 === "string") {
if (func3(data10) > 32000) {
validate155.errors = [{ instancePath: instancePath + "/negative_prompt", schemaPath: "#/properties/negative_prompt/maxLength", keyword: "maxLength", params: { limit: 32000 } }];
return false;
}
} else {
validate155.errors = [{ instancePath: instancePath + "/negative_prompt", schemaPath: "#/properties/negative_prompt/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs21 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.person_generation !== undefined) {
let data11 = data.person_generation;
const _errs23 = errors;
if (typeof data11 !== "string") {
validate155.errors = [{ instancePath: instancePath + "/person_generation", schemaPath: "#/properties/person_generation/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data11 === "dont_allow" || data11 === "allow_adult" || data11 === "allow_all")) {
validate155.errors = [{ instancePath: instancePath + "/person_generation", schemaPath: "#/properties/person_generation/enum", keyword: "enum", params: { allowedValues: schema165.properties.person_generation.enum } }];
return false;
}
var valid0 = _errs23 === errors;
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
} else {
validate155.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate155.errors = vErrors;
return errors === 0;
}
validate155.evaluated = { props: { model: true, prompt: true, image_url: true, image_file_id: true, video_url: true, video_file_id: true, duration: true, resolution: true, aspect_ratio: true, seed: true, negative_prompt: true, person_generation: true }, dynamicProps: false, dynamicItems: false };
var validateChatCompletionChunk = validate156;
var schema166 = { type: "object", required: ["id", "object", "created", "model", "choices"], properties: { id: { type: "string" }, object: { const: "chat.completion.chunk" }, created: { type: "integer" }, model: { type: "string" }, choices: { type: "array", items: { $ref: "ChatChunkChoice" } }, usage: { anyOf: [{ $ref: "TokenUsageReport" }, { type: "null" }] }, service_tier: { type: ["string", "null"] }, system_fingerprint: { type: ["string", "null"] } } };
var schema170 = { type: "string", enum: ["stop", "length", "tool_calls", "content_filter", "function_call"] };
var schema168 = { type: "object", properties: { role: { type: "string", enum: ["developer", "system", "user", "assistant", "tool"] }, content: { type: ["string", "null"] }, refusal: { type: ["string", "null"] }, reasoning_content: { type: ["string", "null"] }, tool_calls: { type: "array", items: { $ref: "ToolCallDelta" } }, function_call: { type: ["object", "null"], properties: { name: { type: "string" }, arguments: { type: "string" } } } } };
function validate158(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate158.evaluated;
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
validate158.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/properties/role/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "developer" || data0 === "system" || data0 === "user" || data0 === "assistant" || data0 === "tool")) {
validate158.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/properties/role/enum", keyword: "enum", params: { allowedValues: schema168.properties.role.enum } }];
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
validate158.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: schema168.properties.content.type } }];
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
validate158.errors = [{ instancePath: instancePath + "/refusal", schemaPath: "#/properties/refusal/type", keyword: "type", params: { type: schema168.properties.refusal.type } }];
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
validate158.errors = [{ instancePath: instancePath + "/reasoning_content", schemaPath: "#/properties/reasoning_content/type", keyword: "type", params: { type: schema168.properties.reasoning_content.type } }];
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
validate158.errors = [{ instancePath: instancePath + "/tool_calls/" + i0, schemaPath: "ToolCallDelta/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data5.index !== undefined) {
let data6 = data5.index;
const _errs14 = errors;
if (!(typeof data6 == "number" && (!(data6 % 1) && !isNaN(data6)) && isFinite(data6))) {
validate158.errors = [{ instancePath: instancePath + "/tool_calls/" + i0 + "/index", schemaPath: "ToolCallDelta/properties/index/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs14) {
if (typeof data6 == "number" && isFinite(data6)) {
if (data6 < 0 || isNaN(data6)) {
validate158.errors = [{ instancePath: instancePath + "/tool_calls/" + i0 + "/index", schemaPath: "ToolCallDelta/properties/index/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate158.errors = [{ instancePath: instancePath + "/tool_calls/" + i0 + "/id", schemaPath: "ToolCallDelta/properties/id/type", keyword: "type", params: { type: "string" } }];
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
validate158.errors = [{ instancePath: instancePath + "/tool_calls/" + i0 + "/type", schemaPath: "ToolCallDelta/properties/type/type", keyword: "type", params: { type: "string" } }];
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
validate158.errors = [{ instancePath: instancePath + "/tool_calls/" + i0 + "/function/name", schemaPath: "ToolCallDelta/properties/function/properties/name/type", keyword: "type", params: { type: "string" } }];
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
validate158.errors = [{ instancePath: instancePath + "/tool_calls/" + i0 + "/function/arguments", schemaPath: "ToolCallDelta/properties/function/properties/arguments/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid4 = _errs24 === errors;
} else {
var valid4 = true;
}
}
} else {
validate158.errors = [{ instancePath: instancePath + "/tool_calls/" + i0 + "/function", schemaPath: "ToolCallDelta/properties/function/type", keyword: "type", params: { type: "object" } }];
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
validate158.errors = [{ instancePath: instancePath + "/tool_calls/" + i0 + "/custom/name", schemaPath: "ToolCallDelta/properties/custom/properties/name/type", keyword: "type", params: { type: "string" } }];
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
validate158.errors = [{ instancePath: instancePath + "/tool_calls/" + i0 + "/custom/input", schemaPath: "ToolCallDelta/properties/custom/properties/input/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid5 = _errs30 === errors;
} else {
var valid5 = true;
}
}
} else {
validate158.errors = [{ instancePath: instancePath + "/tool_calls/" + i0 + "/custom", schemaPath: "ToolCallDelta/properties/custom/type", keyword: "type", params: { type: "object" } }];
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
validate158.errors = [{ instancePath: instancePath + "/tool_calls/" + i0, schemaPath: "ToolCallDelta/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid1 = _errs11 === errors;
if (!valid1) {
break;
}
}
} else {
validate158.errors = [{ instancePath: instancePath + "/tool_calls", schemaPath: "#/properties/tool_calls/type", keyword: "type", params: { type: "array" } }];
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
validate158.errors = [{ instancePath: instancePath + "/function_call", schemaPath: "#/properties/function_call/type", keyword: "type", params: { type: schema168.properties.function_call.type } }];
return false;
}
if (errors === _errs32) {
if (data15 && typeof data15 == "object" && !Array.isArray(data15)) {
if (data15.name !== undefined) {
const _errs34 = errors;
if (typeof data15.name !== "string") {
validate158.errors = [{ instancePath: instancePath + "/function_call/name", schemaPath: "#/properties/function_call/properties/name/type", keyword: "type", params: { type: "string" } }];
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
validate158.errors = [{ instancePath: instancePath + "/function_call/arguments", schemaPath: "#/properties/function_call/properties/arguments/type", keyword: "type", params: { type: "string" } }];
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
validate158.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate158.errors = vErrors;
return errors === 0;
}
validate158.evaluated = { props: { role: true, content: true, refusal: true, reasoning_content: true, tool_calls: true, function_call: true }, dynamicProps: false, dynamicItems: false };
function validate157(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate157.evaluated;
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
validate157.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.index !== undefined) {
let data0 = data.index;
const _errs1 = errors;
if (!(typeof data0 == "number" && (!(data0 % 1) && !isNaN(data0)) && isFinite(data0))) {
validate157.errors = [{ instancePath: instancePath + "/index", schemaPath: "#/properties/index/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs1) {
if (typeof data0 == "number" && isFinite(data0)) {
if (data0 < 0 || isNaN(data0)) {
validate157.errors = [{ instancePath: instancePath + "/index", schemaPath: "#/properties/index/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
if (!validate158(data.delta, { instancePath: instancePath + "/delta", parentData: data, parentDataProperty: "delta", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate158.errors : vErrors.concat(validate158.errors);
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
const err1 = { instancePath: instancePath + "/finish_reason", schemaPath: "FinishReason/enum", keyword: "enum", params: { allowedValues: schema170.enum } };
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
validate157.errors = vErrors;
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
if (!validate28(data3, { instancePath: instancePath + "/logprobs", parentData: data, parentDataProperty: "logprobs", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate28.errors : vErrors.concat(validate28.errors);
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
validate157.errors = vErrors;
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
validate157.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate157.errors = vErrors;
return errors === 0;
}
validate157.evaluated = { props: { index: true, delta: true, finish_reason: true, logprobs: true }, dynamicProps: false, dynamicItems: false };
function validate156(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate156.evaluated;
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
validate156.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.id !== undefined) {
const _errs1 = errors;
if (typeof data.id !== "string") {
validate156.errors = [{ instancePath: instancePath + "/id", schemaPath: "#/properties/id/type", keyword: "type", params: { type: "string" } }];
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
validate156.errors = [{ instancePath: instancePath + "/object", schemaPath: "#/properties/object/const", keyword: "const", params: { allowedValue: "chat.completion.chunk" } }];
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
validate156.errors = [{ instancePath: instancePath + "/created", schemaPath: "#/properties/created/type", keyword: "type", params: { type: "integer" } }];
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
validate156.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
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
if (!validate157(data4[i0], { instancePath: instancePath + "/choices/" + i0, parentData: data4, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate157.errors : vErrors.concat(validate157.errors);
errors = vErrors.length;
}
var valid1 = _errs10 === errors;
if (!valid1) {
break;
}
}
} else {
validate156.errors = [{ instancePath: instancePath + "/choices", schemaPath: "#/properties/choices/type", keyword: "type", params: { type: "array" } }];
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
validate156.errors = vErrors;
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
validate156.errors = [{ instancePath: instancePath + "/service_tier", schemaPath: "#/properties/service_tier/type", keyword: "type", params: { type: schema166.properties.service_tier.type } }];
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
validate156.errors = [{ instancePath: instancePath + "/system_fingerprint", schemaPath: "#/properties/system_fingerprint/type", keyword: "type", params: { type: schema166.properties.system_fingerprint.type } }];
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
validate156.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate156.errors = vErrors;
return errors === 0;
}
validate156.evaluated = { props: { id: true, object: true, created: true, model: true, choices: true, usage: true, service_tier: true, system_fingerprint: true }, dynamicProps: false, dynamicItems: false };
var validateChatCompletion = validate162;
var schema172 = { type: "object", required: ["id", "object", "created", "model", "choices"], properties: { id: { type: "string" }, object: { const: "chat.completion" }, created: { type: "integer" }, model: { type: "string" }, choices: { type: "array", items: { $ref: "ChatChoice" } }, usage: { $ref: "TokenUsageReport" }, service_tier: { type: ["string", "null"] }, system_fingerprint: { type: ["string", "null"] } } };
var schema174 = { type: "object", required: ["role", "content"], properties: { role: { const: "assistant" }, content: { type: ["string", "null"] }, refusal: { type: ["string", "null"] }, reasoning_content: { type: ["string", "null"] }, tool_calls: { type: "array", items: { $ref: "ToolCall" } }, function_call: { type: ["object", "null"], required: ["name", "arguments"], properties: { name: { type: "string" }, arguments: { type: "string" } } }, annotations: { type: "array", items: { type: "object" } }, audio: { type: ["object", "null"], required: ["id", "data", "transcript"], properties: { id: { type: "string" }, data: { type: "string" }, transcript: { type: "string" }, expires_at: { type: "integer" } } } } };
function validate164(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate164.evaluated;
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
validate164.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.role !== undefined) {
const _errs1 = errors;
if (data.role !== "assistant") {
validate164.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/properties/role/const", keyword: "const", params: { allowedValue: "assistant" } }];
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
validate164.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: schema174.properties.content.type } }];
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
validate164.errors = [{ instancePath: instancePath + "/refusal", schemaPath: "#/properties/refusal/type", keyword: "type", params: { type: schema174.properties.refusal.type } }];
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
validate164.errors = [{ instancePath: instancePath + "/reasoning_content", schemaPath: "#/properties/reasoning_content/type", keyword: "type", params: { type: schema174.properties.reasoning_content.type } }];
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
if (!validate44(data4[i0], { instancePath: instancePath + "/tool_calls/" + i0, parentData: data4, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate44.errors : vErrors.concat(validate44.errors);
errors = vErrors.length;
}
var valid1 = _errs10 === errors;
if (!valid1) {
break;
}
}
} else {
validate164.errors = [{ instancePath: instancePath + "/tool_calls", schemaPath: "#/properties/tool_calls/type", keyword: "type", params: { type: "array" } }];
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
validate164.errors = [{ instancePath: instancePath + "/function_call", schemaPath: "#/properties/function_call/type", keyword: "type", params: { type: schema174.properties.function_call.type } }];
return false;
}
if (errors === _errs11) {
if (data6 && typeof data6 == "object" && !Array.isArray(data6)) {
let missing1;
if (data6.name === undefined && (missing1 = "name") || data6.arguments === undefined && (missing1 = "arguments")) {
validate164.errors = [{ instancePath: instancePath + "/function_call", schemaPath: "#/properties/function_call/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data6.name !== undefined) {
const _errs13 = errors;
if (typeof data6.name !== "string") {
validate164.errors = [{ instancePath: instancePath + "/function_call/name", schemaPath: "#/properties/function_call/properties/name/type", keyword: "type", params: { type: "string" } }];
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
validate164.errors = [{ instancePath: instancePath + "/function_call/arguments", schemaPath: "#/properties/function_call/properties/arguments/type", keyword: "type", params: { type: "string" } }];
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
validate164.errors = [{ instancePath: instancePath + "/annotations/" + i1, schemaPath: "#/properties/annotations/items/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid3 = _errs19 === errors;
if (!valid3) {
break;
}
}
} else {
validate164.errors = [{ instancePath: instancePath + "/annotations", schemaPath: "#/properties/annotations/type", keyword: "type", params: { type: "array" } }];
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
validate164.errors = [{ instancePath: instancePath + "/audio", schemaPath: "#/properties/audio/type", keyword: "type", params: { type: schema174.properties.audio.type } }];
return false;
}
if (errors === _errs21) {
if (data11 && typeof data11 == "object" && !Array.isArray(data11)) {
let missing2;
if (data11.id === undefined && (missing2 = "id") || data11.data === undefined && (missing2 = "data") || data11.transcript === undefined && (missing2 = "transcript")) {
validate164.errors = [{ instancePath: instancePath + "/audio", schemaPath: "#/properties/audio/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data11.id !== undefined) {
const _errs23 = errors;
if (typeof data11.id !== "string") {
validate164.errors = [{ instancePath: instancePath + "/audio/id", schemaPath: "#/properties/audio/properties/id/type", keyword: "type", params: { type: "string" } }];
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
validate164.errors = [{ instancePath: instancePath + "/audio/data", schemaPath: "#/properties/audio/properties/data/type", keyword: "type", params: { type: "string" } }];
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
validate164.errors = [{ instancePath: instancePath + "/audio/transcript", schemaPath: "#/properties/audio/properties/transcript/type", keyword: "type", params: { type: "string" } }];
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
validate164.errors = [{ instancePath: instancePath + "/audio/expires_at", schemaPath: "#/properties/audio/properties/expires_at/type", keyword: "type", params: { type: "integer" } }];
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
validate164.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate164.errors = vErrors;
return errors === 0;
}
validate164.evaluated = { props: { role: true, content: true, refusal: true, reasoning_content: true, tool_calls: true, function_call: true, annotations: true, audio: true }, dynamicProps: false, dynamicItems: false };
function validate163(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate163.evaluated;
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
validate163.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.index !== undefined) {
let data0 = data.index;
const _errs1 = errors;
if (!(typeof data0 == "number" && (!(data0 % 1) && !isNaN(data0)) && isFinite(data0))) {
validate163.errors = [{ instancePath: instancePath + "/index", schemaPath: "#/properties/index/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs1) {
if (typeof data0 == "number" && isFinite(data0)) {
if (data0 < 0 || isNaN(data0)) {
validate163.errors = [{ instancePath: instancePath + "/index", schemaPath: "#/properties/index/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
if (!validate164(data.message, { instancePath: instancePath + "/message", parentData: data, parentDataProperty: "message", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate164.errors : vErrors.concat(validate164.errors);
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
validate163.errors = [{ instancePath: instancePath + "/finish_reason", schemaPath: "FinishReason/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data2 === "stop" || data2 === "length" || data2 === "tool_calls" || data2 === "content_filter" || data2 === "function_call")) {
validate163.errors = [{ instancePath: instancePath + "/finish_reason", schemaPath: "FinishReason/enum", keyword: "enum", params: { allowedValues: schema170.enum } }];
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
if (!validate28(data3, { instancePath: instancePath + "/logprobs", parentData: data, parentDataProperty: "logprobs", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate28.errors : vErrors.concat(validate28.errors);
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
validate163.errors = vErrors;
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
validate163.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate163.errors = vErrors;
return errors === 0;
}
validate163.evaluated = { props: { index: true, message: true, finish_reason: true, logprobs: true }, dynamicProps: false, dynamicItems: false };
function validate162(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate162.evaluated;
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
validate162.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.id !== undefined) {
const _errs1 = errors;
if (typeof data.id !== "string") {
validate162.errors = [{ instancePath: instancePath + "/id", schemaPath: "#/properties/id/type", keyword: "type", params: { type: "string" } }];
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
validate162.errors = [{ instancePath: instancePath + "/object", schemaPath: "#/properties/object/const", keyword: "const", params: { allowedValue: "chat.completion" } }];
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
validate162.errors = [{ instancePath: instancePath + "/created", schemaPath: "#/properties/created/type", keyword: "type", params: { type: "integer" } }];
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
validate162.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
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
if (!validate163(data4[i0], { instancePath: instancePath + "/choices/" + i0, parentData: data4, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate163.errors : vErrors.concat(validate163.errors);
errors = vErrors.length;
}
var valid1 = _errs10 === errors;
if (!valid1) {
break;
}
}
} else {
validate162.errors = [{ instancePath: instancePath + "/choices", schemaPath: "#/properties/choices/type", keyword: "type", params: { type: "array" } }];
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
validate162.errors = [{ instancePath: instancePath + "/usage", schemaPath: "TokenUsageReport/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data6.prompt_tokens !== undefined) {
let data7 = data6.prompt_tokens;
const _errs14 = errors;
if (!(typeof data7 == "number" && (!(data7 % 1) && !isNaN(data7)) && isFinite(data7))) {
validate162.errors = [{ instancePath: instancePath + "/usage/prompt_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs14) {
if (typeof data7 == "number" && isFinite(data7)) {
if (data7 < 0 || isNaN(data7)) {
validate162.errors = [{ instancePath: instancePath + "/usage/prompt_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate162.errors = [{ instancePath: instancePath + "/usage/completion_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs16) {
if (typeof data8 == "number" && isFinite(data8)) {
if (data8 < 0 || isNaN(data8)) {
validate162.errors = [{ instancePath: instancePath + "/usage/completion_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate162.errors = [{ instancePath: instancePath + "/usage/total_tokens", schemaPath: "TokenUsageReport/properties/total_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs18) {
if (typeof data9 == "number" && isFinite(data9)) {
if (data9 < 0 || isNaN(data9)) {
validate162.errors = [{ instancePath: instancePath + "/usage/total_tokens", schemaPath: "TokenUsageReport/properties/total_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate162.errors = [{ instancePath: instancePath + "/usage/prompt_tokens_details/cached_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/cached_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs22) {
if (typeof data11 == "number" && isFinite(data11)) {
if (data11 < 0 || isNaN(data11)) {
validate162.errors = [{ instancePath: instancePath + "/usage/prompt_tokens_details/cached_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/cached_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate162.errors = [{ instancePath: instancePath + "/usage/prompt_tokens_details/cache_write_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/cache_write_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs24) {
if (typeof data12 == "number" && isFinite(data12)) {
if (data12 < 0 || isNaN(data12)) {
validate162.errors = [{ instancePath: instancePath + "/usage/prompt_tokens_details/cache_write_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/cache_write_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate162.errors = [{ instancePath: instancePath + "/usage/prompt_tokens_details/audio_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/audio_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs26) {
if (typeof data13 == "number" && isFinite(data13)) {
if (data13 < 0 || isNaN(data13)) {
validate162.errors = [{ instancePath: instancePath + "/usage/prompt_tokens_details/audio_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/audio_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate162.errors = [{ instancePath: instancePath + "/usage/prompt_tokens_details/image_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/image_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs28) {
if (typeof data14 == "number" && isFinite(data14)) {
if (data14 < 0 || isNaN(data14)) {
validate162.errors = [{ instancePath: instancePath + "/usage/prompt_tokens_details/image_tokens", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/properties/image_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate162.errors = [{ instancePath: instancePath + "/usage/prompt_tokens_details", schemaPath: "TokenUsageReport/properties/prompt_tokens_details/type", keyword: "type", params: { type: "object" } }];
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
validate162.errors = [{ instancePath: instancePath + "/usage/completion_tokens_details/reasoning_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/reasoning_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs32) {
if (typeof data16 == "number" && isFinite(data16)) {
if (data16 < 0 || isNaN(data16)) {
validate162.errors = [{ instancePath: instancePath + "/usage/completion_tokens_details/reasoning_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/reasoning_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate162.errors = [{ instancePath: instancePath + "/usage/completion_tokens_details/audio_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/audio_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs34) {
if (typeof data17 == "number" && isFinite(data17)) {
if (data17 < 0 || isNaN(data17)) {
validate162.errors = [{ instancePath: instancePath + "/usage/completion_tokens_details/audio_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/audio_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate162.errors = [{ instancePath: instancePath + "/usage/completion_tokens_details/image_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/image_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs36) {
if (typeof data18 == "number" && isFinite(data18)) {
if (data18 < 0 || isNaN(data18)) {
validate162.errors = [{ instancePath: instancePath + "/usage/completion_tokens_details/image_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/image_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate162.errors = [{ instancePath: instancePath + "/usage/completion_tokens_details/accepted_prediction_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/accepted_prediction_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs38) {
if (typeof data19 == "number" && isFinite(data19)) {
if (data19 < 0 || isNaN(data19)) {
validate162.errors = [{ instancePath: instancePath + "/usage/completion_tokens_details/accepted_prediction_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/accepted_prediction_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate162.errors = [{ instancePath: instancePath + "/usage/completion_tokens_details/rejected_prediction_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/rejected_prediction_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs40) {
if (typeof data20 == "number" && isFinite(data20)) {
if (data20 < 0 || isNaN(data20)) {
validate162.errors = [{ instancePath: instancePath + "/usage/completion_tokens_details/rejected_prediction_tokens", schemaPath: "TokenUsageReport/properties/completion_tokens_details/properties/rejected_prediction_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate162.errors = [{ instancePath: instancePath + "/usage/completion_tokens_details", schemaPath: "TokenUsageReport/properties/completion_tokens_details/type", keyword: "type", params: { type: "object" } }];
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
validate162.errors = [{ instancePath: instancePath + "/usage", schemaPath: "TokenUsageReport/type", keyword: "type", params: { type: "object" } }];
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
validate162.errors = [{ instancePath: instancePath + "/service_tier", schemaPath: "#/properties/service_tier/type", keyword: "type", params: { type: schema172.properties.service_tier.type } }];
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
validate162.errors = [{ instancePath: instancePath + "/system_fingerprint", schemaPath: "#/properties/system_fingerprint/type", keyword: "type", params: { type: schema172.properties.system_fingerprint.type } }];
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
validate162.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate162.errors = vErrors;
return errors === 0;
}
validate162.evaluated = { props: { id: true, object: true, created: true, model: true, choices: true, usage: true, service_tier: true, system_fingerprint: true }, dynamicProps: false, dynamicItems: false };
var validateEmbeddings = validate169;
var schema177 = { type: "object", required: ["object", "data", "model", "usage"], properties: { object: { const: "list" }, data: { type: "array", items: { type: "object", required: ["object", "index", "embedding"], properties: { object: { const: "embedding" }, index: { type: "integer", minimum: 0 }, embedding: { type: ["array", "string"], items: { type: "number" } } } } }, model: { type: "string" }, usage: { type: "object", required: ["prompt_tokens", "total_tokens"], properties: { prompt_tokens: { type: "integer", minimum: 0 }, total_tokens: { type: "integer", minimum: 0 } } } } };
function validate169(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate169.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.object === undefined && (missing0 = "object") || data.data === undefined && (missing0 = "data") || data.model === undefined && (missing0 = "model") || data.usage === undefined && (missing0 = "usage")) {
validate169.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.object !== undefined) {
const _errs1 = errors;
if (data.object !== "list") {
validate169.errors = [{ instancePath: instancePath + "/object", schemaPath: "#/properties/object/const", keyword: "const", params: { allowedValue: "list" } }];
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
let data2 = data1[i0];
const _errs4 = errors;
if (errors === _errs4) {
if (data2 && typeof data2 == "object" && !Array.isArray(data2)) {
let missing1;
if (data2.object === undefined && (missing1 = "object") || data2.index === undefined && (missing1 = "index") || data2.embedding === undefined && (missing1 = "embedding")) {
validate169.errors = [{ instancePath: instancePath + "/data/" + i0, schemaPath: "#/properties/data/items/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data2.object !== undefined) {
const _errs6 = errors;
if (data2.object !== "embedding") {
validate169.errors = [{ instancePath: instancePath + "/data/" + i0 + "/object", schemaPath: "#/properties/data/items/properties/object/const", keyword: "const", params: { allowedValue: "embedding" } }];
return false;
}
var valid2 = _errs6 === errors;
} else {
var valid2 = true;
}
if (valid2) {
if (data2.index !== undefined) {
let data4 = data2.index;
const _errs7 = errors;
if (!(typeof data4 == "number" && (!(data4 % 1) && !isNaN(data4)) && isFinite(data4))) {
validate169.errors = [{ instancePath: instancePath + "/data/" + i0 + "/index", schemaPath: "#/properties/data/items/properties/index/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs7) {
if (typeof data4 == "number" && isFinite(data4)) {
if (data4 < 0 || isNaN(data4)) {
validate169.errors = [{ instancePath: instancePath + "/data/" + i0 + "/index", schemaPath: "#/properties/data/items/properties/index/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid2 = _errs7 === errors;
} else {
var valid2 = true;
}
if (valid2) {
if (data2.embedding !== undefined) {
let data5 = data2.embedding;
const _errs9 = errors;
if (!Array.isArray(data5) && typeof data5 !== "string") {
validate169.errors = [{ instancePath: instancePath + "/data/" + i0 + "/embedding", schemaPath: "#/properties/data/items/properties/embedding/type", keyword: "type", params: { type: schema177.properties.data.items.properties.embedding.type } }];
return false;
}
if (errors === _errs9) {
if (Array.isArray(data5)) {
var valid3 = true;
const len1 = data5.length;
for (let i1 = 0;i1 < len1; i1++) {
let data6 = data5[i1];
const _errs11 = errors;
if (!(typeof data6 == "number" && isFinite(data6))) {
validate169.errors = [{ instancePath: instancePath + "/data/" + i0 + "/embedding/" + i1, schemaPath: "#/properties/data/items/properties/embedding/items/type", keyword: "type", params: { type: "number" } }];
return false;
}
var valid3 = _errs11 === errors;
if (!valid3) {
break;
}
}
}
}
var valid2 = _errs9 === errors;
} else {
var valid2 = true;
}
}
}
}
} else {
validate169.errors = [{ instancePath: instancePath + "/data/" + i0, schemaPath: "#/properties/data/items/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid1 = _errs4 === errors;
if (!valid1) {
break;
}
}
} else {
validate169.errors = [{ instancePath: instancePath + "/data", schemaPath: "#/properties/data/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.model !== undefined) {
const _errs13 = errors;
if (typeof data.model !== "string") {
validate169.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs13 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.usage !== undefined) {
let data8 = data.usage;
const _errs15 = errors;
if (errors === _errs15) {
if (data8 && typeof data8 == "object" && !Array.isArray(data8)) {
let missing2;
if (data8.prompt_tokens === undefined && (missing2 = "prompt_tokens") || data8.total_tokens === undefined && (missing2 = "total_tokens")) {
validate169.errors = [{ instancePath: instancePath + "/usage", schemaPath: "#/properties/usage/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data8.prompt_tokens !== undefined) {
let data9 = data8.prompt_tokens;
const _errs17 = errors;
if (!(typeof data9 == "number" && (!(data9 % 1) && !isNaN(data9)) && isFinite(data9))) {
validate169.errors = [{ instancePath: instancePath + "/usage/prompt_tokens", schemaPath: "#/properties/usage/properties/prompt_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs17) {
if (typeof data9 == "number" && isFinite(data9)) {
if (data9 < 0 || isNaN(data9)) {
validate169.errors = [{ instancePath: instancePath + "/usage/prompt_tokens", schemaPath: "#/properties/usage/properties/prompt_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs17 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data8.total_tokens !== undefined) {
let data10 = data8.total_tokens;
const _errs19 = errors;
if (!(typeof data10 == "number" && (!(data10 % 1) && !isNaN(data10)) && isFinite(data10))) {
validate169.errors = [{ instancePath: instancePath + "/usage/total_tokens", schemaPath: "#/properties/usage/properties/total_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs19) {
if (typeof data10 == "number" && isFinite(data10)) {
if (data10 < 0 || isNaN(data10)) {
validate169.errors = [{ instancePath: instancePath + "/usage/total_tokens", schemaPath: "#/properties/usage/properties/total_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs19 === errors;
} else {
var valid4 = true;
}
}
}
} else {
validate169.errors = [{ instancePath: instancePath + "/usage", schemaPath: "#/properties/usage/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs15 === errors;
} else {
var valid0 = true;
}
}
}
}
}
} else {
validate169.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate169.errors = vErrors;
return errors === 0;
}
validate169.evaluated = { props: { object: true, data: true, model: true, usage: true }, dynamicProps: false, dynamicItems: false };
var validateEstimate = validate170;
function validate170(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate170.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.model === undefined && (missing0 = "model") || data.currency === undefined && (missing0 = "currency") || data.unit === undefined && (missing0 = "unit") || data.estimated_credits === undefined && (missing0 = "estimated_credits") || data.max_credits === undefined && (missing0 = "max_credits") || data.breakdown === undefined && (missing0 = "breakdown")) {
validate170.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.model !== undefined) {
const _errs1 = errors;
if (typeof data.model !== "string") {
validate170.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.currency !== undefined) {
const _errs3 = errors;
if (data.currency !== "credits") {
validate170.errors = [{ instancePath: instancePath + "/currency", schemaPath: "#/properties/currency/const", keyword: "const", params: { allowedValue: "credits" } }];
return false;
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.unit !== undefined) {
let data2 = data.unit;
const _errs4 = errors;
if (typeof data2 !== "string") {
validate170.errors = [{ instancePath: instancePath + "/unit", schemaPath: "PriceUnit/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data2 === "per_token" || data2 === "per_request" || data2 === "per_image" || data2 === "per_second" || data2 === "per_minute" || data2 === "per_character" || data2 === "per_operation" || data2 === "per_megapixel")) {
validate170.errors = [{ instancePath: instancePath + "/unit", schemaPath: "PriceUnit/enum", keyword: "enum", params: { allowedValues: schema41.enum } }];
return false;
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.estimated_credits !== undefined) {
let data3 = data.estimated_credits;
const _errs7 = errors;
if (errors === _errs7) {
if (typeof data3 == "number" && isFinite(data3)) {
if (data3 < 0 || isNaN(data3)) {
validate170.errors = [{ instancePath: instancePath + "/estimated_credits", schemaPath: "#/properties/estimated_credits/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate170.errors = [{ instancePath: instancePath + "/estimated_credits", schemaPath: "#/properties/estimated_credits/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.max_credits !== undefined) {
let data4 = data.max_credits;
const _errs9 = errors;
if (errors === _errs9) {
if (typeof data4 == "number" && isFinite(data4)) {
if (data4 < 0 || isNaN(data4)) {
validate170.errors = [{ instancePath: instancePath + "/max_credits", schemaPath: "#/properties/max_credits/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate170.errors = [{ instancePath: instancePath + "/max_credits", schemaPath: "#/properties/max_credits/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid0 = _errs9 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.breakdown !== undefined) {
let data5 = data.breakdown;
const _errs11 = errors;
if (errors === _errs11) {
if (Array.isArray(data5)) {
var valid2 = true;
const len0 = data5.length;
for (let i0 = 0;i0 < len0; i0++) {
let data6 = data5[i0];
const _errs13 = errors;
if (errors === _errs13) {
if (data6 && typeof data6 == "object" && !Array.isArray(data6)) {
let missing1;
if (data6.kind === undefined && (missing1 = "kind") || data6.quantity === undefined && (missing1 = "quantity") || data6.unit_credits === undefined && (missing1 = "unit_credits") || data6.credits === undefined && (missing1 = "credits")) {
validate170.errors = [{ instancePath: instancePath + "/breakdown/" + i0, schemaPath: "#/properties/breakdown/items/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data6.kind !== undefined) {
const _errs15 = errors;
if (typeof data6.kind !== "string") {
validate170.errors = [{ instancePath: instancePath + "/breakdown/" + i0 + "/kind", schemaPath: "#/properties/breakdown/items/properties/kind/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid3 = _errs15 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data6.quantity !== undefined) {
let data8 = data6.quantity;
const _errs17 = errors;
if (errors === _errs17) {
if (typeof data8 == "number" && isFinite(data8)) {
if (data8 < 0 || isNaN(data8)) {
validate170.errors = [{ instancePath: instancePath + "/breakdown/" + i0 + "/quantity", schemaPath: "#/properties/breakdown/items/properties/quantity/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate170.errors = [{ instancePath: instancePath + "/breakdown/" + i0 + "/quantity", schemaPath: "#/properties/breakdown/items/properties/quantity/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid3 = _errs17 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data6.unit_credits !== undefined) {
let data9 = data6.unit_credits;
const _errs19 = errors;
if (errors === _errs19) {
if (typeof data9 == "number" && isFinite(data9)) {
if (data9 < 0 || isNaN(data9)) {
validate170.errors = [{ instancePath: instancePath + "/breakdown/" + i0 + "/unit_credits", schemaPath: "#/properties/breakdown/items/properties/unit_credits/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate170.errors = [{ instancePath: instancePath + "/breakdown/" + i0 + "/unit_credits", schemaPath: "#/properties/breakdown/items/properties/unit_credits/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid3 = _errs19 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data6.credits !== undefined) {
let data10 = data6.credits;
const _errs21 = errors;
if (errors === _errs21) {
if (typeof data10 == "number" && isFinite(data10)) {
if (data10 < 0 || isNaN(data10)) {
validate170.errors = [{ instancePath: instancePath + "/breakdown/" + i0 + "/credits", schemaPath: "#/properties/breakdown/items/properties/credits/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate170.errors = [{ instancePath: instancePath + "/breakdown/" + i0 + "/credits", schemaPath: "#/properties/breakdown/items/properties/credits/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid3 = _errs21 === errors;
} else {
var valid3 = true;
}
}
}
}
}
} else {
validate170.errors = [{ instancePath: instancePath + "/breakdown/" + i0, schemaPath: "#/properties/breakdown/items/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid2 = _errs13 === errors;
if (!valid2) {
break;
}
}
} else {
validate170.errors = [{ instancePath: instancePath + "/breakdown", schemaPath: "#/properties/breakdown/type", keyword: "type", params: { type: "array" } }];
return false;
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
}
}
} else {
validate170.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate170.errors = vErrors;
return errors === 0;
}
validate170.evaluated = { props: { model: true, currency: true, unit: true, estimated_credits: true, max_credits: true, breakdown: true }, dynamicProps: false, dynamicItems: false };
var validateFallbackChainDeleted = validate171;
function validate171(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate171.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.model === undefined && (missing0 = "model") || data.deleted === undefined && (missing0 = "deleted")) {
validate171.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.model !== undefined) {
const _errs1 = errors;
if (typeof data.model !== "string") {
validate171.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.deleted !== undefined) {
const _errs3 = errors;
if (data.deleted !== true) {
validate171.errors = [{ instancePath: instancePath + "/deleted", schemaPath: "#/properties/deleted/const", keyword: "const", params: { allowedValue: true } }];
return false;
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
}
}
} else {
validate171.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate171.errors = vErrors;
return errors === 0;
}
validate171.evaluated = { props: { model: true, deleted: true }, dynamicProps: false, dynamicItems: false };
var validateFallbackChainList = validate172;
function validate172(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate172.evaluated;
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
validate172.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.object !== undefined) {
const _errs1 = errors;
if (data.object !== "list") {
validate172.errors = [{ instancePath: instancePath + "/object", schemaPath: "#/properties/object/const", keyword: "const", params: { allowedValue: "list" } }];
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
let data2 = data1[i0];
const _errs4 = errors;
const _errs5 = errors;
if (errors === _errs5) {
if (data2 && typeof data2 == "object" && !Array.isArray(data2)) {
let missing1;
if (data2.model === undefined && (missing1 = "model") || data2.fallbacks === undefined && (missing1 = "fallbacks") || data2.continue_streams === undefined && (missing1 = "continue_streams") || data2.updated_at === undefined && (missing1 = "updated_at")) {
validate172.errors = [{ instancePath: instancePath + "/data/" + i0, schemaPath: "FallbackChain/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data2.model !== undefined) {
const _errs7 = errors;
if (typeof data2.model !== "string") {
validate172.errors = [{ instancePath: instancePath + "/data/" + i0 + "/model", schemaPath: "FallbackChain/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid3 = _errs7 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data2.fallbacks !== undefined) {
let data4 = data2.fallbacks;
const _errs9 = errors;
if (errors === _errs9) {
if (Array.isArray(data4)) {
if (data4.length > 10) {
validate172.errors = [{ instancePath: instancePath + "/data/" + i0 + "/fallbacks", schemaPath: "FallbackChain/properties/fallbacks/maxItems", keyword: "maxItems", params: { limit: 10 } }];
return false;
} else {
if (data4.length < 1) {
validate172.errors = [{ instancePath: instancePath + "/data/" + i0 + "/fallbacks", schemaPath: "FallbackChain/properties/fallbacks/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid4 = true;
const len1 = data4.length;
for (let i1 = 0;i1 < len1; i1++) {
const _errs11 = errors;
if (typeof data4[i1] !== "string") {
validate172.errors = [{ instancePath: instancePath + "/data/" + i0 + "/fallbacks/" + i1, schemaPath: "FallbackChain/properties/fallbacks/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid4 = _errs11 === errors;
if (!valid4) {
break;
}
}
}
}
} else {
validate172.errors = [{ instancePath: instancePath + "/data/" + i0 + "/fallbacks", schemaPath: "FallbackChain/properties/fallbacks/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid3 = _errs9 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data2.continue_streams !== undefined) {
const _errs13 = errors;
if (typeof data2.continue_streams !== "boolean") {
validate172.errors = [{ instancePath: instancePath + "/data/" + i0 + "/continue_streams", schemaPath: "FallbackChain/properties/continue_streams/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid3 = _errs13 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data2.updated_at !== undefined) {
let data7 = data2.updated_at;
const _errs15 = errors;
if (errors === _errs15) {
if (errors === _errs15) {
if (typeof data7 === "string") {
if (!formats12.validate(data7)) {
validate172.errors = [{ instancePath: instancePath + "/data/" + i0 + "/updated_at", schemaPath: "FallbackChain/properties/updated_at/format", keyword: "format", params: { format: "date-time" } }];
return false;
}
} else {
validate172.errors = [{ instancePath: instancePath + "/data/" + i0 + "/updated_at", schemaPath: "FallbackChain/properties/updated_at/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid3 = _errs15 === errors;
} else {
var valid3 = true;
}
}
}
}
}
} else {
validate172.errors = [{ instancePath: instancePath + "/data/" + i0, schemaPath: "FallbackChain/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid1 = _errs4 === errors;
if (!valid1) {
break;
}
}
} else {
validate172.errors = [{ instancePath: instancePath + "/data", schemaPath: "#/properties/data/type", keyword: "type", params: { type: "array" } }];
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
validate172.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate172.errors = vErrors;
return errors === 0;
}
validate172.evaluated = { props: { object: true, data: true }, dynamicProps: false, dynamicItems: false };
var validateFallbackChain = validate173;
function validate173(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate173.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.model === undefined && (missing0 = "model") || data.fallbacks === undefined && (missing0 = "fallbacks") || data.continue_streams === undefined && (missing0 = "continue_streams") || data.updated_at === undefined && (missing0 = "updated_at")) {
validate173.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.model !== undefined) {
const _errs1 = errors;
if (typeof data.model !== "string") {
validate173.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.fallbacks !== undefined) {
let data1 = data.fallbacks;
const _errs3 = errors;
if (errors === _errs3) {
if (Array.isArray(data1)) {
if (data1.length > 10) {
validate173.errors = [{ instancePath: instancePath + "/fallbacks", schemaPath: "#/properties/fallbacks/maxItems", keyword: "maxItems", params: { limit: 10 } }];
return false;
} else {
if (data1.length < 1) {
validate173.errors = [{ instancePath: instancePath + "/fallbacks", schemaPath: "#/properties/fallbacks/minItems", keyword: "minItems", params: { limit: 1 } }];
return false;
} else {
var valid1 = true;
const len0 = data1.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs5 = errors;
if (typeof data1[i0] !== "string") {
validate173.errors = [{ instancePath: instancePath + "/fallbacks/" + i0, schemaPath: "#/properties/fallbacks/items/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid1 = _errs5 === errors;
if (!valid1) {
break;
}
}
}
}
} else {
validate173.errors = [{ instancePath: instancePath + "/fallbacks", schemaPath: "#/properties/fallbacks/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.continue_streams !== undefined) {
const _errs7 = errors;
if (typeof data.continue_streams !== "boolean") {
validate173.errors = [{ instancePath: instancePath + "/continue_streams", schemaPath: "#/properties/continue_streams/type", keyword: "type", params: { type: "boolean" } }];
return false;
}
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.updated_at !== undefined) {
let data4 = data.updated_at;
const _errs9 = errors;
if (errors === _errs9) {
if (errors === _errs9) {
if (typeof data4 === "string") {
if (!formats12.validate(data4)) {
validate173.errors = [{ instancePath: instancePath + "/updated_at", schemaPath: "#/properties/updated_at/format", keyword: "format", params: { format: "date-time" } }];
return false;
}
} else {
validate173.errors = [{ instancePath: instancePath + "/updated_at", schemaPath: "#/properties/updated_at/type", keyword: "type", params: { type: "string" } }];
return false;
}
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
validate173.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate173.errors = vErrors;
return errors === 0;
}
validate173.evaluated = { props: { model: true, fallbacks: true, continue_streams: true, updated_at: true }, dynamicProps: false, dynamicItems: false };
var validateFileDeleted = validate174;
function validate174(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate174.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.id === undefined && (missing0 = "id") || data.object === undefined && (missing0 = "object") || data.deleted === undefined && (missing0 = "deleted")) {
validate174.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.id !== undefined) {
const _errs1 = errors;
if (typeof data.id !== "string") {
validate174.errors = [{ instancePath: instancePath + "/id", schemaPath: "#/properties/id/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.object !== undefined) {
const _errs3 = errors;
if (data.object !== "file") {
validate174.errors = [{ instancePath: instancePath + "/object", schemaPath: "#/properties/object/const", keyword: "const", params: { allowedValue: "file" } }];
return false;
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.deleted !== undefined) {
const _errs4 = errors;
if (data.deleted !== true) {
validate174.errors = [{ instancePath: instancePath + "/deleted", schemaPath: "#/properties/deleted/const", keyword: "const", params: { allowedValue: true } }];
return false;
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
}
}
}
} else {
validate174.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate174.errors = vErrors;
return errors === 0;
}
validate174.evaluated = { props: { id: true, object: true, deleted: true }, dynamicProps: false, dynamicItems: false };
var validateFileList = validate175;
var schema185 = { type: "object", required: ["object", "data", "first_id", "last_id", "has_more"], properties: { object: { const: "list" }, data: { type: "array", items: { $ref: "File" } }, first_id: { type: ["string", "null"] }, last_id: { type: ["string", "null"] }, has_more: { type: "boolean" } } };
var schema186 = { type: "object", required: ["id", "object", "bytes", "created_at", "filename", "purpose", "status"], properties: { id: { type: "string", pattern: "^file-[0-9a-f]{32}$" }, object: { const: "file" }, bytes: { type: "integer", minimum: 1 }, created_at: { type: "integer" }, expires_at: { type: "integer" }, filename: { type: "string" }, purpose: { enum: ["assistants", "batch", "fine-tune", "vision", "user_data", "evals"] }, status: { const: "processed" } } };
var pattern22 = new RegExp("^file-[0-9a-f]{32}$", "u");
function validate175(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate175.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.object === undefined && (missing0 = "object") || data.data === undefined && (missing0 = "data") || data.first_id === undefined && (missing0 = "first_id") || data.last_id === undefined && (missing0 = "last_id") || data.has_more === undefined && (missing0 = "has_more")) {
validate175.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.object !== undefined) {
const _errs1 = errors;
if (data.object !== "list") {
validate175.errors = [{ instancePath: instancePath + "/object", schemaPath: "#/properties/object/const", keyword: "const", params: { allowedValue: "list" } }];
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
let data2 = data1[i0];
const _errs4 = errors;
const _errs5 = errors;
if (errors === _errs5) {
if (data2 && typeof data2 == "object" && !Array.isArray(data2)) {
let missing1;
if (data2.id === undefined && (missing1 = "id") || data2.object === undefined && (missing1 = "object") || data2.bytes === undefined && (missing1 = "bytes") || data2.created_at === undefined && (missing1 = "created_at") || data2.filename === undefined && (missing1 = "filename") || data2.purpose === undefined && (missing1 = "purpose") || data2.status === undefined && (missing1 = "status")) {
validate175.errors = [{ instancePath: instancePath + "/data/" + i0, schemaPath: "File/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data2.id !== undefined) {
let data3 = data2.id;
const _errs7 = errors;
if (errors === _errs7) {
if (typeof data3 === "string") {
if (!pattern22.test(data3)) {
validate175.errors = [{ instancePath: instancePath + "/data/" + i0 + "/id", schemaPath: "File/properties/id/pattern", keyword: "pattern", params: { pattern: "^file-[0-9a-f]{32}$" } }];
return false;
}
} else {
validate175.errors = [{ instancePath: instancePath + "/data/" + i0 + "/id", schemaPath: "File/properties/id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid3 = _errs7 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data2.object !== undefined) {
const _errs9 = errors;
if (data2.object !== "file") {
validate175.errors = [{ instancePath: instancePath + "/data/" + i0 + "/object", schemaPath: "File/properties/object/const", keyword: "const", params: { allowedValue: "file" } }];
return false;
}
var valid3 = _errs9 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data2.bytes !== undefined) {
let data5 = data2.bytes;
const _errs10 = errors;
if (!(typeof data5 == "number" && (!(data5 % 1) && !isNaN(data5)) && isFinite(data5))) {
validate175.errors = [{ instancePath: instancePath + "/data/" + i0 + "/bytes", schemaPath: "File/properties/bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs10) {
if (typeof data5 == "number" && isFinite(data5)) {
if (data5 < 1 || isNaN(data5)) {
validate175.errors = [{ instancePath: instancePath + "/data/" + i0 + "/bytes", schemaPath: "File/properties/bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
var valid3 = _errs10 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data2.created_at !== undefined) {
let data6 = data2.created_at;
const _errs12 = errors;
if (!(typeof data6 == "number" && (!(data6 % 1) && !isNaN(data6)) && isFinite(data6))) {
validate175.errors = [{ instancePath: instancePath + "/data/" + i0 + "/created_at", schemaPath: "File/properties/created_at/type", keyword: "type", params: { type: "integer" } }];
return false;
}
var valid3 = _errs12 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data2.expires_at !== undefined) {
let data7 = data2.expires_at;
const _errs14 = errors;
if (!(typeof data7 == "number" && (!(data7 % 1) && !isNaN(data7)) && isFinite(data7))) {
validate175.errors = [{ instancePath: instancePath + "/data/" + i0 + "/expires_at", schemaPath: "File/properties/expires_at/type", keyword: "type", params: { type: "integer" } }];
return false;
}
var valid3 = _errs14 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data2.filename !== undefined) {
const _errs16 = errors;
if (typeof data2.filename !== "string") {
validate175.errors = [{ instancePath: instancePath + "/data/" + i0 + "/filename", schemaPath: "File/properties/filename/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid3 = _errs16 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data2.purpose !== undefined) {
let data9 = data2.purpose;
const _errs18 = errors;
if (!(data9 === "assistants" || data9 === "batch" || data9 === "fine-tune" || data9 === "vision" || data9 === "user_data" || data9 === "evals")) {
validate175.errors = [{ instancePath: instancePath + "/data/" + i0 + "/purpose", schemaPath: "File/properties/purpose/enum", keyword: "enum", params: { allowedValues: schema186.properties.purpose.enum } }];
return false;
}
var valid3 = _errs18 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data2.status !== undefined) {
const _errs19 = errors;
if (data2.status !== "processed") {
validate175.errors = [{ instancePath: instancePath + "/data/" + i0 + "/status", schemaPath: "File/properties/status/const", keyword: "const", params: { allowedValue: "processed" } }];
return false;
}
var valid3 = _errs19 === errors;
} else {
var valid3 = true;
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
validate175.errors = [{ instancePath: instancePath + "/data/" + i0, schemaPath: "File/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid1 = _errs4 === errors;
if (!valid1) {
break;
}
}
} else {
validate175.errors = [{ instancePath: instancePath + "/data", schemaPath: "#/properties/data/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.first_id !== undefined) {
let data11 = data.first_id;
const _errs20 = errors;
if (typeof data11 !== "string" && data11 !== null) {
validate175.errors = [{ instancePath: instancePath + "/first_id", schemaPath: "#/properties/first_id/type", keyword: "type", params: { type: schema185.properties.first_id.type } }];
return false;
}
var valid0 = _errs20 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.last_id !== undefined) {
let data12 = data.last_id;
const _errs22 = errors;
if (typeof data12 !== "string" && data12 !== null) {
validate175.errors = [{ instancePath: instancePath + "/last_id", schemaPath: "#/properties/last_id/type", keyword: "type", params: { type: schema185.properties.last_id.type } }];
return false;
}
var valid0 = _errs22 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.has_more !== undefined) {
const _errs24 = errors;
if (typeof data.has_more !== "boolean") {
validate175.errors = [{ instancePath: instancePath + "/has_more", schemaPath: "#/properties/has_more/type", keyword: "type", params: { type: "boolean" } }];
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
} else {
validate175.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate175.errors = vErrors;
return errors === 0;
}
validate175.evaluated = { props: { object: true, data: true, first_id: true, last_id: true, has_more: true }, dynamicProps: false, dynamicItems: false };
var validateFile = validate176;
function validate176(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate176.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.id === undefined && (missing0 = "id") || data.object === undefined && (missing0 = "object") || data.bytes === undefined && (missing0 = "bytes") || data.created_at === undefined && (missing0 = "created_at") || data.filename === undefined && (missing0 = "filename") || data.purpose === undefined && (missing0 = "purpose") || data.status === undefined && (missing0 = "status")) {
validate176.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.id !== undefined) {
let data0 = data.id;
const _errs1 = errors;
if (errors === _errs1) {
if (typeof data0 === "string") {
if (!pattern22.test(data0)) {
validate176.errors = [{ instancePath: instancePath + "/id", schemaPath: "#/properties/id/pattern", keyword: "pattern", params: { pattern: "^file-[0-9a-f]{32}$" } }];
return false;
}
} else {
validate176.errors = [{ instancePath: instancePath + "/id", schemaPath: "#/properties/id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.object !== undefined) {
const _errs3 = errors;
if (data.object !== "file") {
validate176.errors = [{ instancePath: instancePath + "/object", schemaPath: "#/properties/object/const", keyword: "const", params: { allowedValue: "file" } }];
return false;
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.bytes !== undefined) {
let data2 = data.bytes;
const _errs4 = errors;
if (!(typeof data2 == "number" && (!(data2 % 1) && !isNaN(data2)) && isFinite(data2))) {
validate176.errors = [{ instancePath: instancePath + "/bytes", schemaPath: "#/properties/bytes/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs4) {
if (typeof data2 == "number" && isFinite(data2)) {
if (data2 < 1 || isNaN(data2)) {
validate176.errors = [{ instancePath: instancePath + "/bytes", schemaPath: "#/properties/bytes/minimum", keyword: "minimum", params: { comparison: ">=", limit: 1 } }];
return false;
}
}
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.created_at !== undefined) {
let data3 = data.created_at;
const _errs6 = errors;
if (!(typeof data3 == "number" && (!(data3 % 1) && !isNaN(data3)) && isFinite(data3))) {
validate176.errors = [{ instancePath: instancePath + "/created_at", schemaPath: "#/properties/created_at/type", keyword: "type", params: { type: "integer" } }];
return false;
}
var valid0 = _errs6 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.expires_at !== undefined) {
let data4 = data.expires_at;
const _errs8 = errors;
if (!(typeof data4 == "number" && (!(data4 % 1) && !isNaN(data4)) && isFinite(data4))) {
validate176.errors = [{ instancePath: instancePath + "/expires_at", schemaPath: "#/properties/expires_at/type", keyword: "type", params: { type: "integer" } }];
return false;
}
var valid0 = _errs8 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.filename !== undefined) {
const _errs10 = errors;
if (typeof data.filename !== "string") {
validate176.errors = [{ instancePath: instancePath + "/filename", schemaPath: "#/properties/filename/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs10 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.purpose !== undefined) {
let data6 = data.purpose;
const _errs12 = errors;
if (!(data6 === "assistants" || data6 === "batch" || data6 === "fine-tune" || data6 === "vision" || data6 === "user_data" || data6 === "evals")) {
validate176.errors = [{ instancePath: instancePath + "/purpose", schemaPath: "#/properties/purpose/enum", keyword: "enum", params: { allowedValues: schema186.properties.purpose.enum } }];
return false;
}
var valid0 = _errs12 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.status !== undefined) {
const _errs13 = errors;
if (data.status !== "processed") {
validate176.errors = [{ instancePath: instancePath + "/status", schemaPath: "#/properties/status/const", keyword: "const", params: { allowedValue: "processed" } }];
return false;
}
var valid0 = _errs13 === errors;
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
validate176.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate176.errors = vErrors;
return errors === 0;
}
validate176.evaluated = { props: { id: true, object: true, bytes: true, created_at: true, expires_at: true, filename: true, purpose: true, status: true }, dynamicProps: false, dynamicItems: false };
var validateHealth = validate177;
var schema188 = { type: "object", required: ["status"], properties: { status: { type: "string", enum: ["ok", "unavailable"] }, checks: { type: "object", additionalProperties: { type: "string", enum: ["ok", "failed"] } } } };
function validate177(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate177.evaluated;
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
validate177.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.status !== undefined) {
let data0 = data.status;
const _errs1 = errors;
if (typeof data0 !== "string") {
validate177.errors = [{ instancePath: instancePath + "/status", schemaPath: "#/properties/status/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "ok" || data0 === "unavailable")) {
validate177.errors = [{ instancePath: instancePath + "/status", schemaPath: "#/properties/status/enum", keyword: "enum", params: { allowedValues: schema188.properties.status.enum } }];
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
validate177.errors = [{ instancePath: instancePath + "/checks/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/checks/additionalProperties/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data2 === "ok" || data2 === "failed")) {
validate177.errors = [{ instancePath: instancePath + "/checks/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/checks/additionalProperties/enum", keyword: "enum", params: { allowedValues: schema188.properties.checks.additionalProperties.enum } }];
return false;
}
var valid1 = _errs6 === errors;
if (!valid1) {
break;
}
}
} else {
validate177.errors = [{ instancePath: instancePath + "/checks", schemaPath: "#/properties/checks/type", keyword: "type", params: { type: "object" } }];
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
validate177.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate177.errors = vErrors;
return errors === 0;
}
validate177.evaluated = { props: { status: true, checks: true }, dynamicProps: false, dynamicItems: false };
var validateJob = validate178;
var schema189 = { type: "object", required: ["id", "object", "modality", "status", "progress", "model", "created"], properties: { id: { type: "string", format: "uuid" }, object: { const: "job" }, modality: { $ref: "Modality" }, status: { enum: ["queued", "processing", "completed", "failed", "cancelled"] }, progress: { type: "number", minimum: 0, maximum: 1 }, model: { type: ["string", "null"] }, created: { type: "integer" }, started: { type: "integer" }, completed: { type: "integer" }, data: { type: "array", items: { type: "object" } }, credits_used: { type: "number", minimum: 0 }, error: { type: "object", required: ["message", "type", "code", "param"], properties: { message: { type: "string" }, type: { type: "string" }, code: { type: "string" }, param: { type: ["string", "null"] } } } } };
function validate178(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate178.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.id === undefined && (missing0 = "id") || data.object === undefined && (missing0 = "object") || data.modality === undefined && (missing0 = "modality") || data.status === undefined && (missing0 = "status") || data.progress === undefined && (missing0 = "progress") || data.model === undefined && (missing0 = "model") || data.created === undefined && (missing0 = "created")) {
validate178.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.id !== undefined) {
let data0 = data.id;
const _errs1 = errors;
if (errors === _errs1) {
if (errors === _errs1) {
if (typeof data0 === "string") {
if (!formats0.test(data0)) {
validate178.errors = [{ instancePath: instancePath + "/id", schemaPath: "#/properties/id/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate178.errors = [{ instancePath: instancePath + "/id", schemaPath: "#/properties/id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.object !== undefined) {
const _errs3 = errors;
if (data.object !== "job") {
validate178.errors = [{ instancePath: instancePath + "/object", schemaPath: "#/properties/object/const", keyword: "const", params: { allowedValue: "job" } }];
return false;
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.modality !== undefined) {
let data2 = data.modality;
const _errs4 = errors;
if (typeof data2 !== "string") {
validate178.errors = [{ instancePath: instancePath + "/modality", schemaPath: "Modality/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data2 === "text" || data2 === "image" || data2 === "audio" || data2 === "stt" || data2 === "video" || data2 === "music" || data2 === "embedding" || data2 === "upscale" || data2 === "vision" || data2 === "object_3d")) {
validate178.errors = [{ instancePath: instancePath + "/modality", schemaPath: "Modality/enum", keyword: "enum", params: { allowedValues: schema38.enum } }];
return false;
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.status !== undefined) {
let data3 = data.status;
const _errs7 = errors;
if (!(data3 === "queued" || data3 === "processing" || data3 === "completed" || data3 === "failed" || data3 === "cancelled")) {
validate178.errors = [{ instancePath: instancePath + "/status", schemaPath: "#/properties/status/enum", keyword: "enum", params: { allowedValues: schema189.properties.status.enum } }];
return false;
}
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.progress !== undefined) {
let data4 = data.progress;
const _errs8 = errors;
if (errors === _errs8) {
if (typeof data4 == "number" && isFinite(data4)) {
if (data4 > 1 || isNaN(data4)) {
validate178.errors = [{ instancePath: instancePath + "/progress", schemaPath: "#/properties/progress/maximum", keyword: "maximum", params: { comparison: "<=", limit: 1 } }];
return false;
} else {
if (data4 < 0 || isNaN(data4)) {
validate178.errors = [{ instancePath: instancePath + "/progress", schemaPath: "#/properties/progress/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
} else {
validate178.errors = [{ instancePath: instancePath + "/progress", schemaPath: "#/properties/progress/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid0 = _errs8 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.model !== undefined) {
let data5 = data.model;
const _errs10 = errors;
if (typeof data5 !== "string" && data5 !== null) {
validate178.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: schema189.properties.model.type } }];
return false;
}
var valid0 = _errs10 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.created !== undefined) {
let data6 = data.created;
const _errs12 = errors;
if (!(typeof data6 == "number" && (!(data6 % 1) && !isNaN(data6)) && isFinite(data6))) {
validate178.errors = [{ instancePath: instancePath + "/created", schemaPath: "#/properties/created/type", keyword: "type", params: { type: "integer" } }];
return false;
}
var valid0 = _errs12 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.started !== undefined) {
let data7 = data.started;
const _errs14 = errors;
if (!(typeof data7 == "number" && (!(data7 % 1) && !isNaN(data7)) && isFinite(data7))) {
validate178.errors = [{ instancePath: instancePath + "/started", schemaPath: "#/properties/started/type", keyword: "type", params: { type: "integer" } }];
return false;
}
var valid0 = _errs14 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.completed !== undefined) {
let data8 = data.completed;
const _errs16 = errors;
if (!(typeof data8 == "number" && (!(data8 % 1) && !isNaN(data8)) && isFinite(data8))) {
validate178.errors = [{ instancePath: instancePath + "/completed", schemaPath: "#/properties/completed/type", keyword: "type", params: { type: "integer" } }];
return false;
}
var valid0 = _errs16 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.data !== undefined) {
let data9 = data.data;
const _errs18 = errors;
if (errors === _errs18) {
if (Array.isArray(data9)) {
var valid2 = true;
const len0 = data9.length;
for (let i0 = 0;i0 < len0; i0++) {
let data10 = data9[i0];
const _errs20 = errors;
if (!(data10 && typeof data10 == "object" && !Array.isArray(data10))) {
validate178.errors = [{ instancePath: instancePath + "/data/" + i0, schemaPath: "#/properties/data/items/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid2 = _errs20 === errors;
if (!valid2) {
break;
}
}
} else {
validate178.errors = [{ instancePath: instancePath + "/data", schemaPath: "#/properties/data/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs18 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.credits_used !== undefined) {
let data11 = data.credits_used;
const _errs22 = errors;
if (errors === _errs22) {
if (typeof data11 == "number" && isFinite(data11)) {
if (data11 < 0 || isNaN(data11)) {
validate178.errors = [{ instancePath: instancePath + "/credits_used", schemaPath: "#/properties/credits_used/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate178.errors = [{ instancePath: instancePath + "/credits_used", schemaPath: "#/properties/credits_used/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid0 = _errs22 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.error !== undefined) {
let data12 = data.error;
const _errs24 = errors;
if (errors === _errs24) {
if (data12 && typeof data12 == "object" && !Array.isArray(data12)) {
let missing1;
if (data12.message === undefined && (missing1 = "message") || data12.type === undefined && (missing1 = "type") || data12.code === undefined && (missing1 = "code") || data12.param === undefined && (missing1 = "param")) {
validate178.errors = [{ instancePath: instancePath + "/error", schemaPath: "#/properties/error/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data12.message !== undefined) {
const _errs26 = errors;
if (typeof data12.message !== "string") {
validate178.errors = [{ instancePath: instancePath + "/error/message", schemaPath: "#/properties/error/properties/message/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid3 = _errs26 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data12.type !== undefined) {
const _errs28 = errors;
if (typeof data12.type !== "string") {
validate178.errors = [{ instancePath: instancePath + "/error/type", schemaPath: "#/properties/error/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid3 = _errs28 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data12.code !== undefined) {
const _errs30 = errors;
if (typeof data12.code !== "string") {
validate178.errors = [{ instancePath: instancePath + "/error/code", schemaPath: "#/properties/error/properties/code/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid3 = _errs30 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data12.param !== undefined) {
let data16 = data12.param;
const _errs32 = errors;
if (typeof data16 !== "string" && data16 !== null) {
validate178.errors = [{ instancePath: instancePath + "/error/param", schemaPath: "#/properties/error/properties/param/type", keyword: "type", params: { type: schema189.properties.error.properties.param.type } }];
return false;
}
var valid3 = _errs32 === errors;
} else {
var valid3 = true;
}
}
}
}
}
} else {
validate178.errors = [{ instancePath: instancePath + "/error", schemaPath: "#/properties/error/type", keyword: "type", params: { type: "object" } }];
return false;
}
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
}
} else {
validate178.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate178.errors = vErrors;
return errors === 0;
}
validate178.evaluated = { props: { id: true, object: true, modality: true, status: true, progress: true, model: true, created: true, started: true, completed: true, data: true, credits_used: true, error: true }, dynamicProps: false, dynamicItems: false };
var validateKey = validate179;
var schema191 = { type: "object", required: ["object", "id", "name", "workspace", "role", "preset", "balance", "window", "daily_tokens"], properties: { object: { const: "key" }, id: { type: "string", format: "uuid" }, name: { type: "string" }, workspace: { type: "object", required: ["id", "name"], properties: { id: { type: "string", format: "uuid" }, name: { type: "string" } } }, role: { type: "string", enum: ["owner", "admin", "developer", "billing"] }, preset: { type: "string" }, balance: { type: "object", required: ["credits", "held", "available"], properties: { credits: { type: "number" }, held: { type: "number", minimum: 0 }, available: { type: "number" } } }, window: { type: "object", required: ["seconds", "limit", "used", "left"], properties: { seconds: { const: 60 }, limit: { type: ["integer", "null"] }, used: { type: "integer", minimum: 0 }, left: { type: ["integer", "null"] } } }, daily_tokens: { type: "object", required: ["limit", "used", "left"], properties: { limit: { type: ["integer", "null"] }, used: { type: "integer", minimum: 0 }, left: { type: ["integer", "null"] } } } } };
function validate179(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate179.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.object === undefined && (missing0 = "object") || data.id === undefined && (missing0 = "id") || data.name === undefined && (missing0 = "name") || data.workspace === undefined && (missing0 = "workspace") || data.role === undefined && (missing0 = "role") || data.preset === undefined && (missing0 = "preset") || data.balance === undefined && (missing0 = "balance") || data.window === undefined && (missing0 = "window") || data.daily_tokens === undefined && (missing0 = "daily_tokens")) {
validate179.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.object !== undefined) {
const _errs1 = errors;
if (data.object !== "key") {
validate179.errors = [{ instancePath: instancePath + "/object", schemaPath: "#/properties/object/const", keyword: "const", params: { allowedValue: "key" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.id !== undefined) {
let data1 = data.id;
const _errs2 = errors;
if (errors === _errs2) {
if (errors === _errs2) {
if (typeof data1 === "string") {
if (!formats0.test(data1)) {
validate179.errors = [{ instancePath: instancePath + "/id", schemaPath: "#/properties/id/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate179.errors = [{ instancePath: instancePath + "/id", schemaPath: "#/properties/id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.name !== undefined) {
const _errs4 = errors;
if (typeof data.name !== "string") {
validate179.errors = [{ instancePath: instancePath + "/name", schemaPath: "#/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.workspace !== undefined) {
let data3 = data.workspace;
const _errs6 = errors;
if (errors === _errs6) {
if (data3 && typeof data3 == "object" && !Array.isArray(data3)) {
let missing1;
if (data3.id === undefined && (missing1 = "id") || data3.name === undefined && (missing1 = "name")) {
validate179.errors = [{ instancePath: instancePath + "/workspace", schemaPath: "#/properties/workspace/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data3.id !== undefined) {
let data4 = data3.id;
const _errs8 = errors;
if (errors === _errs8) {
if (errors === _errs8) {
if (typeof data4 === "string") {
if (!formats0.test(data4)) {
validate179.errors = [{ instancePath: instancePath + "/workspace/id", schemaPath: "#/properties/workspace/properties/id/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate179.errors = [{ instancePath: instancePath + "/workspace/id", schemaPath: "#/properties/workspace/properties/id/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid1 = _errs8 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data3.name !== undefined) {
const _errs10 = errors;
if (typeof data3.name !== "string") {
validate179.errors = [{ instancePath: instancePath + "/workspace/name", schemaPath: "#/properties/workspace/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid1 = _errs10 === errors;
} else {
var valid1 = true;
}
}
}
} else {
validate179.errors = [{ instancePath: instancePath + "/workspace", schemaPath: "#/properties/workspace/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs6 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.role !== undefined) {
let data6 = data.role;
const _errs12 = errors;
if (typeof data6 !== "string") {
validate179.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/properties/role/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data6 === "owner" || data6 === "admin" || data6 === "developer" || data6 === "billing")) {
validate179.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/properties/role/enum", keyword: "enum", params: { allowedValues: schema191.properties.role.enum } }];
return false;
}
var valid0 = _errs12 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.preset !== undefined) {
const _errs14 = errors;
if (typeof data.preset !== "string") {
validate179.errors = [{ instancePath: instancePath + "/preset", schemaPath: "#/properties/preset/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs14 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.balance !== undefined) {
let data8 = data.balance;
const _errs16 = errors;
if (errors === _errs16) {
if (data8 && typeof data8 == "object" && !Array.isArray(data8)) {
let missing2;
if (data8.credits === undefined && (missing2 = "credits") || data8.held === undefined && (missing2 = "held") || data8.available === undefined && (missing2 = "available")) {
validate179.errors = [{ instancePath: instancePath + "/balance", schemaPath: "#/properties/balance/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data8.credits !== undefined) {
let data9 = data8.credits;
const _errs18 = errors;
if (!(typeof data9 == "number" && isFinite(data9))) {
validate179.errors = [{ instancePath: instancePath + "/balance/credits", schemaPath: "#/properties/balance/properties/credits/type", keyword: "type", params: { type: "number" } }];
return false;
}
var valid2 = _errs18 === errors;
} else {
var valid2 = true;
}
if (valid2) {
if (data8.held !== undefined) {
let data10 = data8.held;
const _errs20 = errors;
if (errors === _errs20) {
if (typeof data10 == "number" && isFinite(data10)) {
if (data10 < 0 || isNaN(data10)) {
validate179.errors = [{ instancePath: instancePath + "/balance/held", schemaPath: "#/properties/balance/properties/held/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate179.errors = [{ instancePath: instancePath + "/balance/held", schemaPath: "#/properties/balance/properties/held/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid2 = _errs20 === errors;
} else {
var valid2 = true;
}
if (valid2) {
if (data8.available !== undefined) {
let data11 = data8.available;
const _errs22 = errors;
if (!(typeof data11 == "number" && isFinite(data11))) {
validate179.errors = [{ instancePath: instancePath + "/balance/available", schemaPath: "#/properties/balance/properties/available/type", keyword: "type", params: { type: "number" } }];
return false;
}
var valid2 = _errs22 === errors;
} else {
var valid2 = true;
}
}
}
}
} else {
validate179.errors = [{ instancePath: instancePath + "/balance", schemaPath: "#/properties/balance/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs16 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.window !== undefined) {
let data12 = data.window;
const _errs24 = errors;
if (errors === _errs24) {
if (data12 && typeof data12 == "object" && !Array.isArray(data12)) {
let missing3;
if (data12.seconds === undefined && (missing3 = "seconds") || data12.limit === undefined && (missing3 = "limit") || data12.used === undefined && (missing3 = "used") || data12.left === undefined && (missing3 = "left")) {
validate179.errors = [{ instancePath: instancePath + "/window", schemaPath: "#/properties/window/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data12.seconds !== undefined) {
const _errs26 = errors;
if (data12.seconds !== 60) {
validate179.errors = [{ instancePath: instancePath + "/window/seconds", schemaPath: "#/properties/window/properties/seconds/const", keyword: "const", params: { allowedValue: 60 } }];
return false;
}
var valid3 = _errs26 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data12.limit !== undefined) {
let data14 = data12.limit;
const _errs27 = errors;
if (!(typeof data14 == "number" && (!(data14 % 1) && !isNaN(data14)) && isFinite(data14)) && data14 !== null) {
validate179.errors = [{ instancePath: instancePath + "/window/limit", schemaPath: "#/properties/window/properties/limit/type", keyword: "type", params: { type: schema191.properties.window.properties.limit.type } }];
return false;
}
var valid3 = _errs27 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data12.used !== undefined) {
let data15 = data12.used;
const _errs29 = errors;
if (!(typeof data15 == "number" && (!(data15 % 1) && !isNaN(data15)) && isFinite(data15))) {
validate179.errors = [{ instancePath: instancePath + "/window/used", schemaPath: "#/properties/window/properties/used/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs29) {
if (typeof data15 == "number" && isFinite(data15)) {
if (data15 < 0 || isNaN(data15)) {
validate179.errors = [{ instancePath: instancePath + "/window/used", schemaPath: "#/properties/window/properties/used/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid3 = _errs29 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data12.left !== undefined) {
let data16 = data12.left;
const _errs31 = errors;
if (!(typeof data16 == "number" && (!(data16 % 1) && !isNaN(data16)) && isFinite(data16)) && data16 !== null) {
validate179.errors = [{ instancePath: instancePath + "/window/left", schemaPath: "#/properties/window/properties/left/type", keyword: "type", params: { type: schema191.properties.window.properties.left.type } }];
return false;
}
var valid3 = _errs31 === errors;
} else {
var valid3 = true;
}
}
}
}
}
} else {
validate179.errors = [{ instancePath: instancePath + "/window", schemaPath: "#/properties/window/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs24 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.daily_tokens !== undefined) {
let data17 = data.daily_tokens;
const _errs33 = errors;
if (errors === _errs33) {
if (data17 && typeof data17 == "object" && !Array.isArray(data17)) {
let missing4;
if (data17.limit === undefined && (missing4 = "limit") || data17.used === undefined && (missing4 = "used") || data17.left === undefined && (missing4 = "left")) {
validate179.errors = [{ instancePath: instancePath + "/daily_tokens", schemaPath: "#/properties/daily_tokens/required", keyword: "required", params: { missingProperty: missing4 } }];
return false;
} else {
if (data17.limit !== undefined) {
let data18 = data17.limit;
const _errs35 = errors;
if (!(typeof data18 == "number" && (!(data18 % 1) && !isNaN(data18)) && isFinite(data18)) && data18 !== null) {
validate179.errors = [{ instancePath: instancePath + "/daily_tokens/limit", schemaPath: "#/properties/daily_tokens/properties/limit/type", keyword: "type", params: { type: schema191.properties.daily_tokens.properties.limit.type } }];
return false;
}
var valid4 = _errs35 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data17.used !== undefined) {
let data19 = data17.used;
const _errs37 = errors;
if (!(typeof data19 == "number" && (!(data19 % 1) && !isNaN(data19)) && isFinite(data19))) {
validate179.errors = [{ instancePath: instancePath + "/daily_tokens/used", schemaPath: "#/properties/daily_tokens/properties/used/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs37) {
if (typeof data19 == "number" && isFinite(data19)) {
if (data19 < 0 || isNaN(data19)) {
validate179.errors = [{ instancePath: instancePath + "/daily_tokens/used", schemaPath: "#/properties/daily_tokens/properties/used/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs37 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data17.left !== undefined) {
let data20 = data17.left;
const _errs39 = errors;
if (!(typeof data20 == "number" && (!(data20 % 1) && !isNaN(data20)) && isFinite(data20)) && data20 !== null) {
validate179.errors = [{ instancePath: instancePath + "/daily_tokens/left", schemaPath: "#/properties/daily_tokens/properties/left/type", keyword: "type", params: { type: schema191.properties.daily_tokens.properties.left.type } }];
return false;
}
var valid4 = _errs39 === errors;
} else {
var valid4 = true;
}
}
}
}
} else {
validate179.errors = [{ instancePath: instancePath + "/daily_tokens", schemaPath: "#/properties/daily_tokens/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs33 === errors;
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
} else {
validate179.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate179.errors = vErrors;
return errors === 0;
}
validate179.evaluated = { props: { object: true, id: true, name: true, workspace: true, role: true, preset: true, balance: true, window: true, daily_tokens: true }, dynamicProps: false, dynamicItems: false };
var validateMediaState = validate180;
var schema192 = { type: "object", required: ["status"], properties: { status: { enum: ["queued", "processing", "completed", "failed"] }, created: { type: "integer" }, data: { type: "array", items: { $ref: "MediaResult" } }, error: { type: "object", required: ["message", "type", "code", "param"], properties: { message: { type: "string" }, type: { type: "string" }, code: { type: "string" }, param: { type: ["string", "null"] } } } } };
var formats56 = require_formats().fullFormats.uri;
function validate180(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate180.evaluated;
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
validate180.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.status !== undefined) {
let data0 = data.status;
const _errs1 = errors;
if (!(data0 === "queued" || data0 === "processing" || data0 === "completed" || data0 === "failed")) {
validate180.errors = [{ instancePath: instancePath + "/status", schemaPath: "#/properties/status/enum", keyword: "enum", params: { allowedValues: schema192.properties.status.enum } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.created !== undefined) {
let data1 = data.created;
const _errs2 = errors;
if (!(typeof data1 == "number" && (!(data1 % 1) && !isNaN(data1)) && isFinite(data1))) {
validate180.errors = [{ instancePath: instancePath + "/created", schemaPath: "#/properties/created/type", keyword: "type", params: { type: "integer" } }];
return false;
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.data !== undefined) {
let data2 = data.data;
const _errs4 = errors;
if (errors === _errs4) {
if (Array.isArray(data2)) {
var valid1 = true;
const len0 = data2.length;
for (let i0 = 0;i0 < len0; i0++) {
let data3 = data2[i0];
const _errs6 = errors;
const _errs7 = errors;
if (errors === _errs7) {
if (data3 && typeof data3 == "object" && !Array.isArray(data3)) {
if (data3.url !== undefined) {
let data4 = data3.url;
const _errs9 = errors;
if (errors === _errs9) {
if (errors === _errs9) {
if (typeof data4 === "string") {
if (!formats56(data4)) {
validate180.errors = [{ instancePath: instancePath + "/data/" + i0 + "/url", schemaPath: "MediaResult/properties/url/format", keyword: "format", params: { format: "uri" } }];
return false;
}
} else {
validate180.errors = [{ instancePath: instancePath + "/data/" + i0 + "/url", schemaPath: "MediaResult/properties/url/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid3 = _errs9 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data3.b64_json !== undefined) {
const _errs11 = errors;
if (typeof data3.b64_json !== "string") {
validate180.errors = [{ instancePath: instancePath + "/data/" + i0 + "/b64_json", schemaPath: "MediaResult/properties/b64_json/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid3 = _errs11 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data3.file_id !== undefined) {
const _errs13 = errors;
if (typeof data3.file_id !== "string") {
validate180.errors = [{ instancePath: instancePath + "/data/" + i0 + "/file_id", schemaPath: "MediaResult/properties/file_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid3 = _errs13 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data3.content_type !== undefined) {
const _errs15 = errors;
if (typeof data3.content_type !== "string") {
validate180.errors = [{ instancePath: instancePath + "/data/" + i0 + "/content_type", schemaPath: "MediaResult/properties/content_type/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid3 = _errs15 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data3.duration_seconds !== undefined) {
let data8 = data3.duration_seconds;
const _errs17 = errors;
if (errors === _errs17) {
if (typeof data8 == "number" && isFinite(data8)) {
if (data8 < 0 || isNaN(data8)) {
validate180.errors = [{ instancePath: instancePath + "/data/" + i0 + "/duration_seconds", schemaPath: "MediaResult/properties/duration_seconds/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate180.errors = [{ instancePath: instancePath + "/data/" + i0 + "/duration_seconds", schemaPath: "MediaResult/properties/duration_seconds/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid3 = _errs17 === errors;
} else {
var valid3 = true;
}
}
}
}
}
} else {
validate180.errors = [{ instancePath: instancePath + "/data/" + i0, schemaPath: "MediaResult/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid1 = _errs6 === errors;
if (!valid1) {
break;
}
}
} else {
validate180.errors = [{ instancePath: instancePath + "/data", schemaPath: "#/properties/data/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.error !== undefined) {
let data9 = data.error;
const _errs19 = errors;
if (errors === _errs19) {
if (data9 && typeof data9 == "object" && !Array.isArray(data9)) {
let missing1;
if (data9.message === undefined && (missing1 = "message") || data9.type === undefined && (missing1 = "type") || data9.code === undefined && (missing1 = "code") || data9.param === undefined && (missing1 = "param")) {
validate180.errors = [{ instancePath: instancePath + "/error", schemaPath: "#/properties/error/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data9.message !== undefined) {
const _errs21 = errors;
if (typeof data9.message !== "string") {
validate180.errors = [{ instancePath: instancePath + "/error/message", schemaPath: "#/properties/error/properties/message/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid4 = _errs21 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data9.type !== undefined) {
const _errs23 = errors;
if (typeof data9.type !== "string") {
validate180.errors = [{ instancePath: instancePath + "/error/type", schemaPath: "#/properties/error/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid4 = _errs23 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data9.code !== undefined) {
const _errs25 = errors;
if (typeof data9.code !== "string") {
validate180.errors = [{ instancePath: instancePath + "/error/code", schemaPath: "#/properties/error/properties/code/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid4 = _errs25 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data9.param !== undefined) {
let data13 = data9.param;
const _errs27 = errors;
if (typeof data13 !== "string" && data13 !== null) {
validate180.errors = [{ instancePath: instancePath + "/error/param", schemaPath: "#/properties/error/properties/param/type", keyword: "type", params: { type: schema192.properties.error.properties.param.type } }];
return false;
}
var valid4 = _errs27 === errors;
} else {
var valid4 = true;
}
}
}
}
}
} else {
validate180.errors = [{ instancePath: instancePath + "/error", schemaPath: "#/properties/error/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs19 === errors;
} else {
var valid0 = true;
}
}
}
}
}
} else {
validate180.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate180.errors = vErrors;
return errors === 0;
}
validate180.evaluated = { props: { status: true, created: true, data: true, error: true }, dynamicProps: false, dynamicItems: false };
var validateMediaResults = validate181;
function validate181(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate181.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.created === undefined && (missing0 = "created") || data.data === undefined && (missing0 = "data") || data.credits_used === undefined && (missing0 = "credits_used")) {
validate181.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.created !== undefined) {
let data0 = data.created;
const _errs1 = errors;
if (!(typeof data0 == "number" && (!(data0 % 1) && !isNaN(data0)) && isFinite(data0))) {
validate181.errors = [{ instancePath: instancePath + "/created", schemaPath: "#/properties/created/type", keyword: "type", params: { type: "integer" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.data !== undefined) {
let data1 = data.data;
const _errs3 = errors;
if (errors === _errs3) {
if (Array.isArray(data1)) {
var valid1 = true;
const len0 = data1.length;
for (let i0 = 0;i0 < len0; i0++) {
let data2 = data1[i0];
const _errs5 = errors;
const _errs6 = errors;
if (errors === _errs6) {
if (data2 && typeof data2 == "object" && !Array.isArray(data2)) {
if (data2.url !== undefined) {
let data3 = data2.url;
const _errs8 = errors;
if (errors === _errs8) {
if (errors === _errs8) {
if (typeof data3 === "string") {
if (!formats56(data3)) {
validate181.errors = [{ instancePath: instancePath + "/data/" + i0 + "/url", schemaPath: "MediaResult/properties/url/format", keyword: "format", params: { format: "uri" } }];
return false;
}
} else {
validate181.errors = [{ instancePath: instancePath + "/data/" + i0 + "/url", schemaPath: "MediaResult/properties/url/type", keyword: "type", params: { type: "string" } }];
return false;
}
}
}
var valid3 = _errs8 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data2.b64_json !== undefined) {
const _errs10 = errors;
if (typeof data2.b64_json !== "string") {
validate181.errors = [{ instancePath: instancePath + "/data/" + i0 + "/b64_json", schemaPath: "MediaResult/properties/b64_json/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid3 = _errs10 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data2.file_id !== undefined) {
const _errs12 = errors;
if (typeof data2.file_id !== "string") {
validate181.errors = [{ instancePath: instancePath + "/data/" + i0 + "/file_id", schemaPath: "MediaResult/properties/file_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid3 = _errs12 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data2.content_type !== undefined) {
const _errs14 = errors;
if (typeof data2.content_type !== "string") {
validate181.errors = [{ instancePath: instancePath + "/data/" + i0 + "/content_type", schemaPath: "MediaResult/properties/content_type/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid3 = _errs14 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data2.duration_seconds !== undefined) {
let data7 = data2.duration_seconds;
const _errs16 = errors;
if (errors === _errs16) {
if (typeof data7 == "number" && isFinite(data7)) {
if (data7 < 0 || isNaN(data7)) {
validate181.errors = [{ instancePath: instancePath + "/data/" + i0 + "/duration_seconds", schemaPath: "MediaResult/properties/duration_seconds/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate181.errors = [{ instancePath: instancePath + "/data/" + i0 + "/duration_seconds", schemaPath: "MediaResult/properties/duration_seconds/type", keyword: "type", params: { type: "number" } }];
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
} else {
validate181.errors = [{ instancePath: instancePath + "/data/" + i0, schemaPath: "MediaResult/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid1 = _errs5 === errors;
if (!valid1) {
break;
}
}
} else {
validate181.errors = [{ instancePath: instancePath + "/data", schemaPath: "#/properties/data/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.credits_used !== undefined) {
let data8 = data.credits_used;
const _errs18 = errors;
if (errors === _errs18) {
if (typeof data8 == "number" && isFinite(data8)) {
if (data8 < 0 || isNaN(data8)) {
validate181.errors = [{ instancePath: instancePath + "/credits_used", schemaPath: "#/properties/credits_used/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate181.errors = [{ instancePath: instancePath + "/credits_used", schemaPath: "#/properties/credits_used/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid0 = _errs18 === errors;
} else {
var valid0 = true;
}
}
}
}
} else {
validate181.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate181.errors = vErrors;
return errors === 0;
}
validate181.evaluated = { props: { created: true, data: true, credits_used: true }, dynamicProps: false, dynamicItems: false };
var validateMessageEvent = validate182;
var schema196 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["message_start", "ping", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop", "error"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "MessageStart" }, { $ref: "MessagePing" }, { $ref: "MessageBlockStart" }, { $ref: "MessageBlockDelta" }, { $ref: "MessageBlockStop" }, { $ref: "MessageDelta" }, { $ref: "MessageStop" }, { $ref: "MessageError" }] }] };
var schema198 = { type: "object", required: ["id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage"], properties: { id: { type: "string" }, type: { const: "message" }, role: { const: "assistant" }, model: { type: "string" }, content: { type: "array", items: { $ref: "MessageBlock" } }, stop_reason: { anyOf: [{ $ref: "MessageStopReason" }, { type: "null" }] }, stop_sequence: { type: ["string", "null"] }, stop_details: { type: ["object", "null"], required: ["type"], properties: { type: { const: "refusal" }, category: { type: ["string", "null"] }, explanation: { type: ["string", "null"] } } }, container: { type: "null" }, usage: { $ref: "MessageUsage" } } };
var schema204 = { type: "string", enum: ["end_turn", "max_tokens", "stop_sequence", "tool_use", "refusal"] };
var schema199 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["text", "thinking", "redacted_thinking", "tool_use"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "MessageText" }, { $ref: "MessageThinking" }, { $ref: "MessageRedactedThinking" }, { $ref: "MessageToolUse" }] }] };
function validate185(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate185.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate185.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate185.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate185.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "text" || data0 === "thinking" || data0 === "redacted_thinking" || data0 === "tool_use")) {
validate185.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema199.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate185.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
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
validate185.errors = [{ instancePath, schemaPath: "MessageText/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs11 = errors;
if (data.type !== "text") {
validate185.errors = [{ instancePath: instancePath + "/type", schemaPath: "MessageText/properties/type/const", keyword: "const", params: { allowedValue: "text" } }];
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
validate185.errors = [{ instancePath: instancePath + "/text", schemaPath: "MessageText/properties/text/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid5 = _errs12 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data.citations !== undefined) {
const _errs14 = errors;
if (data.citations !== null) {
validate185.errors = [{ instancePath: instancePath + "/citations", schemaPath: "MessageText/properties/citations/type", keyword: "type", params: { type: "null" } }];
return false;
}
var valid5 = _errs14 === errors;
} else {
var valid5 = true;
}
}
}
}
} else {
validate185.errors = [{ instancePath, schemaPath: "MessageText/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var props0 = {};
props0.type = true;
props0.text = true;
props0.citations = true;
} else if (tag0 === "thinking") {
const _errs17 = errors;
if (errors === _errs17) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing2;
if (data.type === undefined && (missing2 = "type") || data.thinking === undefined && (missing2 = "thinking") || data.signature === undefined && (missing2 = "signature")) {
validate185.errors = [{ instancePath, schemaPath: "MessageThinking/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs19 = errors;
if (data.type !== "thinking") {
validate185.errors = [{ instancePath: instancePath + "/type", schemaPath: "MessageThinking/properties/type/const", keyword: "const", params: { allowedValue: "thinking" } }];
return false;
}
var valid8 = _errs19 === errors;
} else {
var valid8 = true;
}
if (valid8) {
if (data.thinking !== undefined) {
const _errs20 = errors;
if (typeof data.thinking !== "string") {
validate185.errors = [{ instancePath: instancePath + "/thinking", schemaPath: "MessageThinking/properties/thinking/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid8 = _errs20 === errors;
} else {
var valid8 = true;
}
if (valid8) {
if (data.signature !== undefined) {
const _errs22 = errors;
if (typeof data.signature !== "string") {
validate185.errors = [{ instancePath: instancePath + "/signature", schemaPath: "MessageThinking/properties/signature/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid8 = _errs22 === errors;
} else {
var valid8 = true;
}
}
}
}
} else {
validate185.errors = [{ instancePath, schemaPath: "MessageThinking/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.thinking = true;
props0.signature = true;
}
} else if (tag0 === "redacted_thinking") {
const _errs25 = errors;
if (errors === _errs25) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing3;
if (data.type === undefined && (missing3 = "type") || data.data === undefined && (missing3 = "data")) {
validate185.errors = [{ instancePath, schemaPath: "MessageRedactedThinking/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs27 = errors;
if (data.type !== "redacted_thinking") {
validate185.errors = [{ instancePath: instancePath + "/type", schemaPath: "MessageRedactedThinking/properties/type/const", keyword: "const", params: { allowedValue: "redacted_thinking" } }];
return false;
}
var valid11 = _errs27 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data.data !== undefined) {
const _errs28 = errors;
if (typeof data.data !== "string") {
validate185.errors = [{ instancePath: instancePath + "/data", schemaPath: "MessageRedactedThinking/properties/data/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid11 = _errs28 === errors;
} else {
var valid11 = true;
}
}
}
} else {
validate185.errors = [{ instancePath, schemaPath: "MessageRedactedThinking/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.data = true;
}
} else if (tag0 === "tool_use") {
const _errs31 = errors;
if (errors === _errs31) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing4;
if (data.type === undefined && (missing4 = "type") || data.id === undefined && (missing4 = "id") || data.name === undefined && (missing4 = "name") || data.input === undefined && (missing4 = "input")) {
validate185.errors = [{ instancePath, schemaPath: "MessageToolUse/required", keyword: "required", params: { missingProperty: missing4 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs33 = errors;
if (data.type !== "tool_use") {
validate185.errors = [{ instancePath: instancePath + "/type", schemaPath: "MessageToolUse/properties/type/const", keyword: "const", params: { allowedValue: "tool_use" } }];
return false;
}
var valid14 = _errs33 === errors;
} else {
var valid14 = true;
}
if (valid14) {
if (data.id !== undefined) {
const _errs34 = errors;
if (typeof data.id !== "string") {
validate185.errors = [{ instancePath: instancePath + "/id", schemaPath: "MessageToolUse/properties/id/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid14 = _errs34 === errors;
} else {
var valid14 = true;
}
if (valid14) {
if (data.name !== undefined) {
const _errs36 = errors;
if (typeof data.name !== "string") {
validate185.errors = [{ instancePath: instancePath + "/name", schemaPath: "MessageToolUse/properties/name/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid14 = _errs36 === errors;
} else {
var valid14 = true;
}
if (valid14) {
if (data.input !== undefined) {
let data12 = data.input;
const _errs38 = errors;
if (!(data12 && typeof data12 == "object" && !Array.isArray(data12))) {
validate185.errors = [{ instancePath: instancePath + "/input", schemaPath: "MessageToolUse/properties/input/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid14 = _errs38 === errors;
} else {
var valid14 = true;
}
}
}
}
}
} else {
validate185.errors = [{ instancePath, schemaPath: "MessageToolUse/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.id = true;
props0.name = true;
props0.input = true;
}
} else {
validate185.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate185.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate185.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
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
validate185.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate185.evaluated = { dynamicProps: true, dynamicItems: false };
function validate184(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate184.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.id === undefined && (missing0 = "id") || data.type === undefined && (missing0 = "type") || data.role === undefined && (missing0 = "role") || data.model === undefined && (missing0 = "model") || data.content === undefined && (missing0 = "content") || data.stop_reason === undefined && (missing0 = "stop_reason") || data.stop_sequence === undefined && (missing0 = "stop_sequence") || data.usage === undefined && (missing0 = "usage")) {
validate184.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.id !== undefined) {
const _errs1 = errors;
if (typeof data.id !== "string") {
validate184.errors = [{ instancePath: instancePath + "/id", schemaPath: "#/properties/id/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.type !== undefined) {
const _errs3 = errors;
if (data.type !== "message") {
validate184.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/properties/type/const", keyword: "const", params: { allowedValue: "message" } }];
return false;
}
var valid0 = _errs3 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.role !== undefined) {
const _errs4 = errors;
if (data.role !== "assistant") {
validate184.errors = [{ instancePath: instancePath + "/role", schemaPath: "#/properties/role/const", keyword: "const", params: { allowedValue: "assistant" } }];
return false;
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.model !== undefined) {
const _errs5 = errors;
if (typeof data.model !== "string") {
validate184.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs5 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.content !== undefined) {
let data4 = data.content;
const _errs7 = errors;
if (errors === _errs7) {
if (Array.isArray(data4)) {
var valid1 = true;
const len0 = data4.length;
for (let i0 = 0;i0 < len0; i0++) {
const _errs9 = errors;
if (!validate185(data4[i0], { instancePath: instancePath + "/content/" + i0, parentData: data4, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate185.errors : vErrors.concat(validate185.errors);
errors = vErrors.length;
}
var valid1 = _errs9 === errors;
if (!valid1) {
break;
}
}
} else {
validate184.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs7 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.stop_reason !== undefined) {
let data6 = data.stop_reason;
const _errs10 = errors;
const _errs11 = errors;
let valid2 = false;
const _errs12 = errors;
if (typeof data6 !== "string") {
const err0 = { instancePath: instancePath + "/stop_reason", schemaPath: "MessageStopReason/type", keyword: "type", params: { type: "string" } };
if (vErrors === null) {
vErrors = [err0];
} else {
vErrors.push(err0);
}
errors++;
}
if (!(data6 === "end_turn" || data6 === "max_tokens" || data6 === "stop_sequence" || data6 === "tool_use" || data6 === "refusal")) {
const err1 = { instancePath: instancePath + "/stop_reason", schemaPath: "MessageStopReason/enum", keyword: "enum", params: { allowedValues: schema204.enum } };
if (vErrors === null) {
vErrors = [err1];
} else {
vErrors.push(err1);
}
errors++;
}
var _valid0 = _errs12 === errors;
valid2 = valid2 || _valid0;
const _errs15 = errors;
if (data6 !== null) {
const err2 = { instancePath: instancePath + "/stop_reason", schemaPath: "#/properties/stop_reason/anyOf/1/type", keyword: "type", params: { type: "null" } };
if (vErrors === null) {
vErrors = [err2];
} else {
vErrors.push(err2);
}
errors++;
}
var _valid0 = _errs15 === errors;
valid2 = valid2 || _valid0;
if (!valid2) {
const err3 = { instancePath: instancePath + "/stop_reason", schemaPath: "#/properties/stop_reason/anyOf", keyword: "anyOf", params: {} };
if (vErrors === null) {
vErrors = [err3];
} else {
vErrors.push(err3);
}
errors++;
validate184.errors = vErrors;
return false;
} else {
errors = _errs11;
if (vErrors !== null) {
if (_errs11) {
vErrors.length = _errs11;
} else {
vErrors = null;
}
}
}
var valid0 = _errs10 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.stop_sequence !== undefined) {
let data7 = data.stop_sequence;
const _errs17 = errors;
if (typeof data7 !== "string" && data7 !== null) {
validate184.errors = [{ instancePath: instancePath + "/stop_sequence", schemaPath: "#/properties/stop_sequence/type", keyword: "type", params: { type: schema198.properties.stop_sequence.type } }];
return false;
}
var valid0 = _errs17 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.stop_details !== undefined) {
let data8 = data.stop_details;
const _errs19 = errors;
if (!(data8 && typeof data8 == "object" && !Array.isArray(data8)) && data8 !== null) {
validate184.errors = [{ instancePath: instancePath + "/stop_details", schemaPath: "#/properties/stop_details/type", keyword: "type", params: { type: schema198.properties.stop_details.type } }];
return false;
}
if (errors === _errs19) {
if (data8 && typeof data8 == "object" && !Array.isArray(data8)) {
let missing1;
if (data8.type === undefined && (missing1 = "type")) {
validate184.errors = [{ instancePath: instancePath + "/stop_details", schemaPath: "#/properties/stop_details/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data8.type !== undefined) {
const _errs21 = errors;
if (data8.type !== "refusal") {
validate184.errors = [{ instancePath: instancePath + "/stop_details/type", schemaPath: "#/properties/stop_details/properties/type/const", keyword: "const", params: { allowedValue: "refusal" } }];
return false;
}
var valid4 = _errs21 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data8.category !== undefined) {
let data10 = data8.category;
const _errs22 = errors;
if (typeof data10 !== "string" && data10 !== null) {
validate184.errors = [{ instancePath: instancePath + "/stop_details/category", schemaPath: "#/properties/stop_details/properties/category/type", keyword: "type", params: { type: schema198.properties.stop_details.properties.category.type } }];
return false;
}
var valid4 = _errs22 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data8.explanation !== undefined) {
let data11 = data8.explanation;
const _errs24 = errors;
if (typeof data11 !== "string" && data11 !== null) {
validate184.errors = [{ instancePath: instancePath + "/stop_details/explanation", schemaPath: "#/properties/stop_details/properties/explanation/type", keyword: "type", params: { type: schema198.properties.stop_details.properties.explanation.type } }];
return false;
}
var valid4 = _errs24 === errors;
} else {
var valid4 = true;
}
}
}
}
}
}
var valid0 = _errs19 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.container !== undefined) {
const _errs26 = errors;
if (data.container !== null) {
validate184.errors = [{ instancePath: instancePath + "/container", schemaPath: "#/properties/container/type", keyword: "type", params: { type: "null" } }];
return false;
}
var valid0 = _errs26 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.usage !== undefined) {
let data13 = data.usage;
const _errs28 = errors;
const _errs29 = errors;
if (errors === _errs29) {
if (data13 && typeof data13 == "object" && !Array.isArray(data13)) {
let missing2;
if (data13.input_tokens === undefined && (missing2 = "input_tokens") || data13.cache_creation_input_tokens === undefined && (missing2 = "cache_creation_input_tokens") || data13.cache_read_input_tokens === undefined && (missing2 = "cache_read_input_tokens") || data13.output_tokens === undefined && (missing2 = "output_tokens")) {
validate184.errors = [{ instancePath: instancePath + "/usage", schemaPath: "MessageUsage/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data13.input_tokens !== undefined) {
let data14 = data13.input_tokens;
const _errs31 = errors;
if (!(typeof data14 == "number" && (!(data14 % 1) && !isNaN(data14)) && isFinite(data14))) {
validate184.errors = [{ instancePath: instancePath + "/usage/input_tokens", schemaPath: "MessageUsage/properties/input_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs31) {
if (typeof data14 == "number" && isFinite(data14)) {
if (data14 < 0 || isNaN(data14)) {
validate184.errors = [{ instancePath: instancePath + "/usage/input_tokens", schemaPath: "MessageUsage/properties/input_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid6 = _errs31 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data13.cache_creation_input_tokens !== undefined) {
let data15 = data13.cache_creation_input_tokens;
const _errs33 = errors;
if (!(typeof data15 == "number" && (!(data15 % 1) && !isNaN(data15)) && isFinite(data15))) {
validate184.errors = [{ instancePath: instancePath + "/usage/cache_creation_input_tokens", schemaPath: "MessageUsage/properties/cache_creation_input_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs33) {
if (typeof data15 == "number" && isFinite(data15)) {
if (data15 < 0 || isNaN(data15)) {
validate184.errors = [{ instancePath: instancePath + "/usage/cache_creation_input_tokens", schemaPath: "MessageUsage/properties/cache_creation_input_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid6 = _errs33 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data13.cache_read_input_tokens !== undefined) {
let data16 = data13.cache_read_input_tokens;
const _errs35 = errors;
if (!(typeof data16 == "number" && (!(data16 % 1) && !isNaN(data16)) && isFinite(data16))) {
validate184.errors = [{ instancePath: instancePath + "/usage/cache_read_input_tokens", schemaPath: "MessageUsage/properties/cache_read_input_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs35) {
if (typeof data16 == "number" && isFinite(data16)) {
if (data16 < 0 || isNaN(data16)) {
validate184.errors = [{ instancePath: instancePath + "/usage/cache_read_input_tokens", schemaPath: "MessageUsage/properties/cache_read_input_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid6 = _errs35 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data13.cache_creation !== undefined) {
let data17 = data13.cache_creation;
const _errs37 = errors;
if (errors === _errs37) {
if (data17 && typeof data17 == "object" && !Array.isArray(data17)) {
let missing3;
if (data17.ephemeral_5m_input_tokens === undefined && (missing3 = "ephemeral_5m_input_tokens") || data17.ephemeral_1h_input_tokens === undefined && (missing3 = "ephemeral_1h_input_tokens")) {
validate184.errors = [{ instancePath: instancePath + "/usage/cache_creation", schemaPath: "MessageUsage/properties/cache_creation/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data17.ephemeral_5m_input_tokens !== undefined) {
let data18 = data17.ephemeral_5m_input_tokens;
const _errs39 = errors;
if (!(typeof data18 == "number" && (!(data18 % 1) && !isNaN(data18)) && isFinite(data18))) {
validate184.errors = [{ instancePath: instancePath + "/usage/cache_creation/ephemeral_5m_input_tokens", schemaPath: "MessageUsage/properties/cache_creation/properties/ephemeral_5m_input_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs39) {
if (typeof data18 == "number" && isFinite(data18)) {
if (data18 < 0 || isNaN(data18)) {
validate184.errors = [{ instancePath: instancePath + "/usage/cache_creation/ephemeral_5m_input_tokens", schemaPath: "MessageUsage/properties/cache_creation/properties/ephemeral_5m_input_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid7 = _errs39 === errors;
} else {
var valid7 = true;
}
if (valid7) {
if (data17.ephemeral_1h_input_tokens !== undefined) {
let data19 = data17.ephemeral_1h_input_tokens;
const _errs41 = errors;
if (!(typeof data19 == "number" && (!(data19 % 1) && !isNaN(data19)) && isFinite(data19))) {
validate184.errors = [{ instancePath: instancePath + "/usage/cache_creation/ephemeral_1h_input_tokens", schemaPath: "MessageUsage/properties/cache_creation/properties/ephemeral_1h_input_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs41) {
if (typeof data19 == "number" && isFinite(data19)) {
if (data19 < 0 || isNaN(data19)) {
validate184.errors = [{ instancePath: instancePath + "/usage/cache_creation/ephemeral_1h_input_tokens", schemaPath: "MessageUsage/properties/cache_creation/properties/ephemeral_1h_input_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid7 = _errs41 === errors;
} else {
var valid7 = true;
}
}
}
} else {
validate184.errors = [{ instancePath: instancePath + "/usage/cache_creation", schemaPath: "MessageUsage/properties/cache_creation/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid6 = _errs37 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data13.output_tokens !== undefined) {
let data20 = data13.output_tokens;
const _errs43 = errors;
if (!(typeof data20 == "number" && (!(data20 % 1) && !isNaN(data20)) && isFinite(data20))) {
validate184.errors = [{ instancePath: instancePath + "/usage/output_tokens", schemaPath: "MessageUsage/properties/output_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs43) {
if (typeof data20 == "number" && isFinite(data20)) {
if (data20 < 0 || isNaN(data20)) {
validate184.errors = [{ instancePath: instancePath + "/usage/output_tokens", schemaPath: "MessageUsage/properties/output_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid6 = _errs43 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data13.output_tokens_details !== undefined) {
let data21 = data13.output_tokens_details;
const _errs45 = errors;
if (errors === _errs45) {
if (data21 && typeof data21 == "object" && !Array.isArray(data21)) {
let missing4;
if (data21.thinking_tokens === undefined && (missing4 = "thinking_tokens")) {
validate184.errors = [{ instancePath: instancePath + "/usage/output_tokens_details", schemaPath: "MessageUsage/properties/output_tokens_details/required", keyword: "required", params: { missingProperty: missing4 } }];
return false;
} else {
if (data21.thinking_tokens !== undefined) {
let data22 = data21.thinking_tokens;
const _errs47 = errors;
if (!(typeof data22 == "number" && (!(data22 % 1) && !isNaN(data22)) && isFinite(data22))) {
validate184.errors = [{ instancePath: instancePath + "/usage/output_tokens_details/thinking_tokens", schemaPath: "MessageUsage/properties/output_tokens_details/properties/thinking_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs47) {
if (typeof data22 == "number" && isFinite(data22)) {
if (data22 < 0 || isNaN(data22)) {
validate184.errors = [{ instancePath: instancePath + "/usage/output_tokens_details/thinking_tokens", schemaPath: "MessageUsage/properties/output_tokens_details/properties/thinking_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
}
}
} else {
validate184.errors = [{ instancePath: instancePath + "/usage/output_tokens_details", schemaPath: "MessageUsage/properties/output_tokens_details/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid6 = _errs45 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data13.server_tool_use !== undefined) {
const _errs49 = errors;
if (data13.server_tool_use !== null) {
validate184.errors = [{ instancePath: instancePath + "/usage/server_tool_use", schemaPath: "MessageUsage/properties/server_tool_use/type", keyword: "type", params: { type: "null" } }];
return false;
}
var valid6 = _errs49 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data13.service_tier !== undefined) {
const _errs51 = errors;
if (data13.service_tier !== "standard") {
validate184.errors = [{ instancePath: instancePath + "/usage/service_tier", schemaPath: "MessageUsage/properties/service_tier/const", keyword: "const", params: { allowedValue: "standard" } }];
return false;
}
var valid6 = _errs51 === errors;
} else {
var valid6 = true;
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
validate184.errors = [{ instancePath: instancePath + "/usage", schemaPath: "MessageUsage/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs28 === errors;
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
} else {
validate184.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate184.errors = vErrors;
return errors === 0;
}
validate184.evaluated = { props: { id: true, type: true, role: true, model: true, content: true, stop_reason: true, stop_sequence: true, stop_details: true, container: true, usage: true }, dynamicProps: false, dynamicItems: false };
function validate183(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate183.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type") || data.message === undefined && (missing0 = "message")) {
validate183.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs1 = errors;
if (data.type !== "message_start") {
validate183.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/properties/type/const", keyword: "const", params: { allowedValue: "message_start" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.message !== undefined) {
const _errs2 = errors;
if (!validate184(data.message, { instancePath: instancePath + "/message", parentData: data, parentDataProperty: "message", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate184.errors : vErrors.concat(validate184.errors);
errors = vErrors.length;
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
}
}
} else {
validate183.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate183.errors = vErrors;
return errors === 0;
}
validate183.evaluated = { props: { type: true, message: true }, dynamicProps: false, dynamicItems: false };
function validate188(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate188.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type") || data.index === undefined && (missing0 = "index") || data.content_block === undefined && (missing0 = "content_block")) {
validate188.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs1 = errors;
if (data.type !== "content_block_start") {
validate188.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/properties/type/const", keyword: "const", params: { allowedValue: "content_block_start" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.index !== undefined) {
let data1 = data.index;
const _errs2 = errors;
if (!(typeof data1 == "number" && (!(data1 % 1) && !isNaN(data1)) && isFinite(data1))) {
validate188.errors = [{ instancePath: instancePath + "/index", schemaPath: "#/properties/index/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs2) {
if (typeof data1 == "number" && isFinite(data1)) {
if (data1 < 0 || isNaN(data1)) {
validate188.errors = [{ instancePath: instancePath + "/index", schemaPath: "#/properties/index/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.content_block !== undefined) {
const _errs4 = errors;
if (!validate185(data.content_block, { instancePath: instancePath + "/content_block", parentData: data, parentDataProperty: "content_block", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate185.errors : vErrors.concat(validate185.errors);
errors = vErrors.length;
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
}
}
}
} else {
validate188.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate188.errors = vErrors;
return errors === 0;
}
validate188.evaluated = { props: { type: true, index: true, content_block: true }, dynamicProps: false, dynamicItems: false };
var schema208 = { type: "object", allOf: [{ type: "object", required: ["type"], properties: { type: { type: "string", enum: ["text_delta", "input_json_delta", "thinking_delta", "signature_delta"] } } }, { type: "object", discriminator: { propertyName: "type" }, oneOf: [{ $ref: "MessageTextPiece" }, { $ref: "MessageInputPiece" }, { $ref: "MessageThinkingPiece" }, { $ref: "MessageSignature" }] }] };
function validate191(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate191.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate191.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate191.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate191.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "text_delta" || data0 === "input_json_delta" || data0 === "thinking_delta" || data0 === "signature_delta")) {
validate191.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema208.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate191.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
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
if (tag0 === "text_delta") {
const _errs9 = errors;
if (errors === _errs9) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing1;
if (data.type === undefined && (missing1 = "type") || data.text === undefined && (missing1 = "text")) {
validate191.errors = [{ instancePath, schemaPath: "MessageTextPiece/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs11 = errors;
if (data.type !== "text_delta") {
validate191.errors = [{ instancePath: instancePath + "/type", schemaPath: "MessageTextPiece/properties/type/const", keyword: "const", params: { allowedValue: "text_delta" } }];
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
validate191.errors = [{ instancePath: instancePath + "/text", schemaPath: "MessageTextPiece/properties/text/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid5 = _errs12 === errors;
} else {
var valid5 = true;
}
}
}
} else {
validate191.errors = [{ instancePath, schemaPath: "MessageTextPiece/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var props0 = {};
props0.type = true;
props0.text = true;
} else if (tag0 === "input_json_delta") {
const _errs15 = errors;
if (errors === _errs15) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing2;
if (data.type === undefined && (missing2 = "type") || data.partial_json === undefined && (missing2 = "partial_json")) {
validate191.errors = [{ instancePath, schemaPath: "MessageInputPiece/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs17 = errors;
if (data.type !== "input_json_delta") {
validate191.errors = [{ instancePath: instancePath + "/type", schemaPath: "MessageInputPiece/properties/type/const", keyword: "const", params: { allowedValue: "input_json_delta" } }];
return false;
}
var valid8 = _errs17 === errors;
} else {
var valid8 = true;
}
if (valid8) {
if (data.partial_json !== undefined) {
const _errs18 = errors;
if (typeof data.partial_json !== "string") {
validate191.errors = [{ instancePath: instancePath + "/partial_json", schemaPath: "MessageInputPiece/properties/partial_json/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid8 = _errs18 === errors;
} else {
var valid8 = true;
}
}
}
} else {
validate191.errors = [{ instancePath, schemaPath: "MessageInputPiece/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.partial_json = true;
}
} else if (tag0 === "thinking_delta") {
const _errs21 = errors;
if (errors === _errs21) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing3;
if (data.type === undefined && (missing3 = "type") || data.thinking === undefined && (missing3 = "thinking")) {
validate191.errors = [{ instancePath, schemaPath: "MessageThinkingPiece/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs23 = errors;
if (data.type !== "thinking_delta") {
validate191.errors = [{ instancePath: instancePath + "/type", schemaPath: "MessageThinkingPiece/properties/type/const", keyword: "const", params: { allowedValue: "thinking_delta" } }];
return false;
}
var valid11 = _errs23 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data.thinking !== undefined) {
const _errs24 = errors;
if (typeof data.thinking !== "string") {
validate191.errors = [{ instancePath: instancePath + "/thinking", schemaPath: "MessageThinkingPiece/properties/thinking/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid11 = _errs24 === errors;
} else {
var valid11 = true;
}
}
}
} else {
validate191.errors = [{ instancePath, schemaPath: "MessageThinkingPiece/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.thinking = true;
}
} else if (tag0 === "signature_delta") {
const _errs27 = errors;
if (errors === _errs27) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing4;
if (data.type === undefined && (missing4 = "type") || data.signature === undefined && (missing4 = "signature")) {
validate191.errors = [{ instancePath, schemaPath: "MessageSignature/required", keyword: "required", params: { missingProperty: missing4 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs29 = errors;
if (data.type !== "signature_delta") {
validate191.errors = [{ instancePath: instancePath + "/type", schemaPath: "MessageSignature/properties/type/const", keyword: "const", params: { allowedValue: "signature_delta" } }];
return false;
}
var valid14 = _errs29 === errors;
} else {
var valid14 = true;
}
if (valid14) {
if (data.signature !== undefined) {
const _errs30 = errors;
if (typeof data.signature !== "string") {
validate191.errors = [{ instancePath: instancePath + "/signature", schemaPath: "MessageSignature/properties/signature/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid14 = _errs30 === errors;
} else {
var valid14 = true;
}
}
}
} else {
validate191.errors = [{ instancePath, schemaPath: "MessageSignature/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.signature = true;
}
} else {
validate191.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate191.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate191.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
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
validate191.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate191.evaluated = { dynamicProps: true, dynamicItems: false };
function validate190(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate190.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type") || data.index === undefined && (missing0 = "index") || data.delta === undefined && (missing0 = "delta")) {
validate190.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs1 = errors;
if (data.type !== "content_block_delta") {
validate190.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/properties/type/const", keyword: "const", params: { allowedValue: "content_block_delta" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.index !== undefined) {
let data1 = data.index;
const _errs2 = errors;
if (!(typeof data1 == "number" && (!(data1 % 1) && !isNaN(data1)) && isFinite(data1))) {
validate190.errors = [{ instancePath: instancePath + "/index", schemaPath: "#/properties/index/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs2) {
if (typeof data1 == "number" && isFinite(data1)) {
if (data1 < 0 || isNaN(data1)) {
validate190.errors = [{ instancePath: instancePath + "/index", schemaPath: "#/properties/index/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.delta !== undefined) {
const _errs4 = errors;
if (!validate191(data.delta, { instancePath: instancePath + "/delta", parentData: data, parentDataProperty: "delta", rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate191.errors : vErrors.concat(validate191.errors);
errors = vErrors.length;
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
}
}
}
} else {
validate190.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate190.errors = vErrors;
return errors === 0;
}
validate190.evaluated = { props: { type: true, index: true, delta: true }, dynamicProps: false, dynamicItems: false };
var schema213 = { type: "object", required: ["type", "delta", "usage"], properties: { type: { const: "message_delta" }, delta: { type: "object", required: ["stop_reason", "stop_sequence"], properties: { stop_reason: { $ref: "MessageStopReason" }, stop_sequence: { type: ["string", "null"] }, stop_details: { type: ["object", "null"] } } }, usage: { $ref: "MessageUsage" } } };
function validate193(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate193.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type") || data.delta === undefined && (missing0 = "delta") || data.usage === undefined && (missing0 = "usage")) {
validate193.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs1 = errors;
if (data.type !== "message_delta") {
validate193.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/properties/type/const", keyword: "const", params: { allowedValue: "message_delta" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.delta !== undefined) {
let data1 = data.delta;
const _errs2 = errors;
if (errors === _errs2) {
if (data1 && typeof data1 == "object" && !Array.isArray(data1)) {
let missing1;
if (data1.stop_reason === undefined && (missing1 = "stop_reason") || data1.stop_sequence === undefined && (missing1 = "stop_sequence")) {
validate193.errors = [{ instancePath: instancePath + "/delta", schemaPath: "#/properties/delta/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data1.stop_reason !== undefined) {
let data2 = data1.stop_reason;
const _errs4 = errors;
if (typeof data2 !== "string") {
validate193.errors = [{ instancePath: instancePath + "/delta/stop_reason", schemaPath: "MessageStopReason/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data2 === "end_turn" || data2 === "max_tokens" || data2 === "stop_sequence" || data2 === "tool_use" || data2 === "refusal")) {
validate193.errors = [{ instancePath: instancePath + "/delta/stop_reason", schemaPath: "MessageStopReason/enum", keyword: "enum", params: { allowedValues: schema204.enum } }];
return false;
}
var valid1 = _errs4 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data1.stop_sequence !== undefined) {
let data3 = data1.stop_sequence;
const _errs7 = errors;
if (typeof data3 !== "string" && data3 !== null) {
validate193.errors = [{ instancePath: instancePath + "/delta/stop_sequence", schemaPath: "#/properties/delta/properties/stop_sequence/type", keyword: "type", params: { type: schema213.properties.delta.properties.stop_sequence.type } }];
return false;
}
var valid1 = _errs7 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data1.stop_details !== undefined) {
let data4 = data1.stop_details;
const _errs9 = errors;
if (!(data4 && typeof data4 == "object" && !Array.isArray(data4)) && data4 !== null) {
validate193.errors = [{ instancePath: instancePath + "/delta/stop_details", schemaPath: "#/properties/delta/properties/stop_details/type", keyword: "type", params: { type: schema213.properties.delta.properties.stop_details.type } }];
return false;
}
var valid1 = _errs9 === errors;
} else {
var valid1 = true;
}
}
}
}
} else {
validate193.errors = [{ instancePath: instancePath + "/delta", schemaPath: "#/properties/delta/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.usage !== undefined) {
let data5 = data.usage;
const _errs11 = errors;
const _errs12 = errors;
if (errors === _errs12) {
if (data5 && typeof data5 == "object" && !Array.isArray(data5)) {
let missing2;
if (data5.input_tokens === undefined && (missing2 = "input_tokens") || data5.cache_creation_input_tokens === undefined && (missing2 = "cache_creation_input_tokens") || data5.cache_read_input_tokens === undefined && (missing2 = "cache_read_input_tokens") || data5.output_tokens === undefined && (missing2 = "output_tokens")) {
validate193.errors = [{ instancePath: instancePath + "/usage", schemaPath: "MessageUsage/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data5.input_tokens !== undefined) {
let data6 = data5.input_tokens;
const _errs14 = errors;
if (!(typeof data6 == "number" && (!(data6 % 1) && !isNaN(data6)) && isFinite(data6))) {
validate193.errors = [{ instancePath: instancePath + "/usage/input_tokens", schemaPath: "MessageUsage/properties/input_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs14) {
if (typeof data6 == "number" && isFinite(data6)) {
if (data6 < 0 || isNaN(data6)) {
validate193.errors = [{ instancePath: instancePath + "/usage/input_tokens", schemaPath: "MessageUsage/properties/input_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs14 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data5.cache_creation_input_tokens !== undefined) {
let data7 = data5.cache_creation_input_tokens;
const _errs16 = errors;
if (!(typeof data7 == "number" && (!(data7 % 1) && !isNaN(data7)) && isFinite(data7))) {
validate193.errors = [{ instancePath: instancePath + "/usage/cache_creation_input_tokens", schemaPath: "MessageUsage/properties/cache_creation_input_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs16) {
if (typeof data7 == "number" && isFinite(data7)) {
if (data7 < 0 || isNaN(data7)) {
validate193.errors = [{ instancePath: instancePath + "/usage/cache_creation_input_tokens", schemaPath: "MessageUsage/properties/cache_creation_input_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs16 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data5.cache_read_input_tokens !== undefined) {
let data8 = data5.cache_read_input_tokens;
const _errs18 = errors;
if (!(typeof data8 == "number" && (!(data8 % 1) && !isNaN(data8)) && isFinite(data8))) {
validate193.errors = [{ instancePath: instancePath + "/usage/cache_read_input_tokens", schemaPath: "MessageUsage/properties/cache_read_input_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs18) {
if (typeof data8 == "number" && isFinite(data8)) {
if (data8 < 0 || isNaN(data8)) {
validate193.errors = [{ instancePath: instancePath + "/usage/cache_read_input_tokens", schemaPath: "MessageUsage/properties/cache_read_input_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs18 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data5.cache_creation !== undefined) {
let data9 = data5.cache_creation;
const _errs20 = errors;
if (errors === _errs20) {
if (data9 && typeof data9 == "object" && !Array.isArray(data9)) {
let missing3;
if (data9.ephemeral_5m_input_tokens === undefined && (missing3 = "ephemeral_5m_input_tokens") || data9.ephemeral_1h_input_tokens === undefined && (missing3 = "ephemeral_1h_input_tokens")) {
validate193.errors = [{ instancePath: instancePath + "/usage/cache_creation", schemaPath: "MessageUsage/properties/cache_creation/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data9.ephemeral_5m_input_tokens !== undefined) {
let data10 = data9.ephemeral_5m_input_tokens;
const _errs22 = errors;
if (!(typeof data10 == "number" && (!(data10 % 1) && !isNaN(data10)) && isFinite(data10))) {
validate193.errors = [{ instancePath: instancePath + "/usage/cache_creation/ephemeral_5m_input_tokens", schemaPath: "MessageUsage/properties/cache_creation/properties/ephemeral_5m_input_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs22) {
if (typeof data10 == "number" && isFinite(data10)) {
if (data10 < 0 || isNaN(data10)) {
validate193.errors = [{ instancePath: instancePath + "/usage/cache_creation/ephemeral_5m_input_tokens", schemaPath: "MessageUsage/properties/cache_creation/properties/ephemeral_5m_input_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid5 = _errs22 === errors;
} else {
var valid5 = true;
}
if (valid5) {
if (data9.ephemeral_1h_input_tokens !== undefined) {
let data11 = data9.ephemeral_1h_input_tokens;
const _errs24 = errors;
if (!(typeof data11 == "number" && (!(data11 % 1) && !isNaN(data11)) && isFinite(data11))) {
validate193.errors = [{ instancePath: instancePath + "/usage/cache_creation/ephemeral_1h_input_tokens", schemaPath: "MessageUsage/properties/cache_creation/properties/ephemeral_1h_input_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs24) {
if (typeof data11 == "number" && isFinite(data11)) {
if (data11 < 0 || isNaN(data11)) {
validate193.errors = [{ instancePath: instancePath + "/usage/cache_creation/ephemeral_1h_input_tokens", schemaPath: "MessageUsage/properties/cache_creation/properties/ephemeral_1h_input_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid5 = _errs24 === errors;
} else {
var valid5 = true;
}
}
}
} else {
validate193.errors = [{ instancePath: instancePath + "/usage/cache_creation", schemaPath: "MessageUsage/properties/cache_creation/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid4 = _errs20 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data5.output_tokens !== undefined) {
let data12 = data5.output_tokens;
const _errs26 = errors;
if (!(typeof data12 == "number" && (!(data12 % 1) && !isNaN(data12)) && isFinite(data12))) {
validate193.errors = [{ instancePath: instancePath + "/usage/output_tokens", schemaPath: "MessageUsage/properties/output_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs26) {
if (typeof data12 == "number" && isFinite(data12)) {
if (data12 < 0 || isNaN(data12)) {
validate193.errors = [{ instancePath: instancePath + "/usage/output_tokens", schemaPath: "MessageUsage/properties/output_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid4 = _errs26 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data5.output_tokens_details !== undefined) {
let data13 = data5.output_tokens_details;
const _errs28 = errors;
if (errors === _errs28) {
if (data13 && typeof data13 == "object" && !Array.isArray(data13)) {
let missing4;
if (data13.thinking_tokens === undefined && (missing4 = "thinking_tokens")) {
validate193.errors = [{ instancePath: instancePath + "/usage/output_tokens_details", schemaPath: "MessageUsage/properties/output_tokens_details/required", keyword: "required", params: { missingProperty: missing4 } }];
return false;
} else {
if (data13.thinking_tokens !== undefined) {
let data14 = data13.thinking_tokens;
const _errs30 = errors;
if (!(typeof data14 == "number" && (!(data14 % 1) && !isNaN(data14)) && isFinite(data14))) {
validate193.errors = [{ instancePath: instancePath + "/usage/output_tokens_details/thinking_tokens", schemaPath: "MessageUsage/properties/output_tokens_details/properties/thinking_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs30) {
if (typeof data14 == "number" && isFinite(data14)) {
if (data14 < 0 || isNaN(data14)) {
validate193.errors = [{ instancePath: instancePath + "/usage/output_tokens_details/thinking_tokens", schemaPath: "MessageUsage/properties/output_tokens_details/properties/thinking_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
}
}
} else {
validate193.errors = [{ instancePath: instancePath + "/usage/output_tokens_details", schemaPath: "MessageUsage/properties/output_tokens_details/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid4 = _errs28 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data5.server_tool_use !== undefined) {
const _errs32 = errors;
if (data5.server_tool_use !== null) {
validate193.errors = [{ instancePath: instancePath + "/usage/server_tool_use", schemaPath: "MessageUsage/properties/server_tool_use/type", keyword: "type", params: { type: "null" } }];
return false;
}
var valid4 = _errs32 === errors;
} else {
var valid4 = true;
}
if (valid4) {
if (data5.service_tier !== undefined) {
const _errs34 = errors;
if (data5.service_tier !== "standard") {
validate193.errors = [{ instancePath: instancePath + "/usage/service_tier", schemaPath: "MessageUsage/properties/service_tier/const", keyword: "const", params: { allowedValue: "standard" } }];
return false;
}
var valid4 = _errs34 === errors;
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
} else {
validate193.errors = [{ instancePath: instancePath + "/usage", schemaPath: "MessageUsage/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs11 === errors;
} else {
var valid0 = true;
}
}
}
}
} else {
validate193.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate193.errors = vErrors;
return errors === 0;
}
validate193.evaluated = { props: { type: true, delta: true, usage: true }, dynamicProps: false, dynamicItems: false };
function validate182(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate182.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (!(data && typeof data == "object" && !Array.isArray(data))) {
validate182.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
const _errs1 = errors;
if (errors === _errs1) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate182.errors = [{ instancePath, schemaPath: "#/allOf/0/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
if (typeof data0 !== "string") {
validate182.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data0 === "message_start" || data0 === "ping" || data0 === "content_block_start" || data0 === "content_block_delta" || data0 === "content_block_stop" || data0 === "message_delta" || data0 === "message_stop" || data0 === "error")) {
validate182.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/allOf/0/properties/type/enum", keyword: "enum", params: { allowedValues: schema196.allOf[0].properties.type.enum } }];
return false;
}
}
}
} else {
validate182.errors = [{ instancePath, schemaPath: "#/allOf/0/type", keyword: "type", params: { type: "object" } }];
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
if (tag0 === "message_start") {
if (!validate183(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate183.errors : vErrors.concat(validate183.errors);
errors = vErrors.length;
}
var props0 = {};
props0.type = true;
props0.message = true;
} else if (tag0 === "ping") {
const _errs10 = errors;
if (errors === _errs10) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing1;
if (data.type === undefined && (missing1 = "type")) {
validate182.errors = [{ instancePath, schemaPath: "MessagePing/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data.type !== undefined) {
if (data.type !== "ping") {
validate182.errors = [{ instancePath: instancePath + "/type", schemaPath: "MessagePing/properties/type/const", keyword: "const", params: { allowedValue: "ping" } }];
return false;
}
}
}
} else {
validate182.errors = [{ instancePath, schemaPath: "MessagePing/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
}
} else if (tag0 === "content_block_start") {
if (!validate188(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate188.errors : vErrors.concat(validate188.errors);
errors = vErrors.length;
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.index = true;
props0.content_block = true;
}
} else if (tag0 === "content_block_delta") {
if (!validate190(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate190.errors : vErrors.concat(validate190.errors);
errors = vErrors.length;
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.index = true;
props0.delta = true;
}
} else if (tag0 === "content_block_stop") {
const _errs16 = errors;
if (errors === _errs16) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing2;
if (data.type === undefined && (missing2 = "type") || data.index === undefined && (missing2 = "index")) {
validate182.errors = [{ instancePath, schemaPath: "MessageBlockStop/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs18 = errors;
if (data.type !== "content_block_stop") {
validate182.errors = [{ instancePath: instancePath + "/type", schemaPath: "MessageBlockStop/properties/type/const", keyword: "const", params: { allowedValue: "content_block_stop" } }];
return false;
}
var valid11 = _errs18 === errors;
} else {
var valid11 = true;
}
if (valid11) {
if (data.index !== undefined) {
let data3 = data.index;
const _errs19 = errors;
if (!(typeof data3 == "number" && (!(data3 % 1) && !isNaN(data3)) && isFinite(data3))) {
validate182.errors = [{ instancePath: instancePath + "/index", schemaPath: "MessageBlockStop/properties/index/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs19) {
if (typeof data3 == "number" && isFinite(data3)) {
if (data3 < 0 || isNaN(data3)) {
validate182.errors = [{ instancePath: instancePath + "/index", schemaPath: "MessageBlockStop/properties/index/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid11 = _errs19 === errors;
} else {
var valid11 = true;
}
}
}
} else {
validate182.errors = [{ instancePath, schemaPath: "MessageBlockStop/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.index = true;
}
} else if (tag0 === "message_delta") {
if (!validate193(data, { instancePath, parentData, parentDataProperty, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate193.errors : vErrors.concat(validate193.errors);
errors = vErrors.length;
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.delta = true;
props0.usage = true;
}
} else if (tag0 === "message_stop") {
const _errs23 = errors;
if (errors === _errs23) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing3;
if (data.type === undefined && (missing3 = "type")) {
validate182.errors = [{ instancePath, schemaPath: "MessageStop/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data.type !== undefined) {
if (data.type !== "message_stop") {
validate182.errors = [{ instancePath: instancePath + "/type", schemaPath: "MessageStop/properties/type/const", keyword: "const", params: { allowedValue: "message_stop" } }];
return false;
}
}
}
} else {
validate182.errors = [{ instancePath, schemaPath: "MessageStop/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
}
} else if (tag0 === "error") {
const _errs27 = errors;
if (errors === _errs27) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing4;
if (data.type === undefined && (missing4 = "type") || data.error === undefined && (missing4 = "error")) {
validate182.errors = [{ instancePath, schemaPath: "MessageError/required", keyword: "required", params: { missingProperty: missing4 } }];
return false;
} else {
if (data.type !== undefined) {
const _errs29 = errors;
if (data.type !== "error") {
validate182.errors = [{ instancePath: instancePath + "/type", schemaPath: "MessageError/properties/type/const", keyword: "const", params: { allowedValue: "error" } }];
return false;
}
var valid18 = _errs29 === errors;
} else {
var valid18 = true;
}
if (valid18) {
if (data.error !== undefined) {
let data6 = data.error;
const _errs30 = errors;
if (errors === _errs30) {
if (data6 && typeof data6 == "object" && !Array.isArray(data6)) {
let missing5;
if (data6.type === undefined && (missing5 = "type") || data6.message === undefined && (missing5 = "message")) {
validate182.errors = [{ instancePath: instancePath + "/error", schemaPath: "MessageError/properties/error/required", keyword: "required", params: { missingProperty: missing5 } }];
return false;
} else {
if (data6.type !== undefined) {
const _errs32 = errors;
if (typeof data6.type !== "string") {
validate182.errors = [{ instancePath: instancePath + "/error/type", schemaPath: "MessageError/properties/error/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid19 = _errs32 === errors;
} else {
var valid19 = true;
}
if (valid19) {
if (data6.message !== undefined) {
const _errs34 = errors;
if (typeof data6.message !== "string") {
validate182.errors = [{ instancePath: instancePath + "/error/message", schemaPath: "MessageError/properties/error/properties/message/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid19 = _errs34 === errors;
} else {
var valid19 = true;
}
}
}
} else {
validate182.errors = [{ instancePath: instancePath + "/error", schemaPath: "MessageError/properties/error/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid18 = _errs30 === errors;
} else {
var valid18 = true;
}
if (valid18) {
if (data.request_id !== undefined) {
const _errs36 = errors;
if (typeof data.request_id !== "string") {
validate182.errors = [{ instancePath: instancePath + "/request_id", schemaPath: "MessageError/properties/request_id/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid18 = _errs36 === errors;
} else {
var valid18 = true;
}
}
}
}
} else {
validate182.errors = [{ instancePath, schemaPath: "MessageError/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
if (props0 !== true) {
props0 = props0 || {};
props0.type = true;
props0.error = true;
props0.request_id = true;
}
} else {
validate182.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "mapping", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate182.errors = [{ instancePath, schemaPath: "#/allOf/1/discriminator", keyword: "discriminator", params: { error: "tag", tag: "type", tagValue: tag0 } }];
return false;
}
} else {
validate182.errors = [{ instancePath, schemaPath: "#/allOf/1/type", keyword: "type", params: { type: "object" } }];
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
validate182.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate182.evaluated = { dynamicProps: true, dynamicItems: false };
var validateMessage = validate184;
var validateModelList = validate198;
function validate198(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate198.evaluated;
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
validate198.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.object !== undefined) {
const _errs1 = errors;
if (data.object !== "list") {
validate198.errors = [{ instancePath: instancePath + "/object", schemaPath: "#/properties/object/const", keyword: "const", params: { allowedValue: "list" } }];
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
if (!validate73(data1[i0], { instancePath: instancePath + "/data/" + i0, parentData: data1, parentDataProperty: i0, rootData, dynamicAnchors })) {
vErrors = vErrors === null ? validate73.errors : vErrors.concat(validate73.errors);
errors = vErrors.length;
}
var valid1 = _errs4 === errors;
if (!valid1) {
break;
}
}
} else {
validate198.errors = [{ instancePath: instancePath + "/data", schemaPath: "#/properties/data/type", keyword: "type", params: { type: "array" } }];
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
validate198.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate198.errors = vErrors;
return errors === 0;
}
validate198.evaluated = { props: { object: true, data: true }, dynamicProps: false, dynamicItems: false };
var validateService = validate200;
function validate200(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate200.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.name === undefined && (missing0 = "name") || data.description === undefined && (missing0 = "description") || data.version === undefined && (missing0 = "version") || data.docs === undefined && (missing0 = "docs") || data.openapi === undefined && (missing0 = "openapi") || data.models === undefined && (missing0 = "models")) {
validate200.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.name !== undefined) {
const _errs1 = errors;
if (data.name !== "Sluice") {
validate200.errors = [{ instancePath: instancePath + "/name", schemaPath: "#/properties/name/const", keyword: "const", params: { allowedValue: "Sluice" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.description !== undefined) {
const _errs2 = errors;
if (typeof data.description !== "string") {
validate200.errors = [{ instancePath: instancePath + "/description", schemaPath: "#/properties/description/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.version !== undefined) {
const _errs4 = errors;
if (typeof data.version !== "string") {
validate200.errors = [{ instancePath: instancePath + "/version", schemaPath: "#/properties/version/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.docs !== undefined) {
const _errs6 = errors;
if (typeof data.docs !== "string") {
validate200.errors = [{ instancePath: instancePath + "/docs", schemaPath: "#/properties/docs/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs6 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.openapi !== undefined) {
const _errs8 = errors;
if (typeof data.openapi !== "string") {
validate200.errors = [{ instancePath: instancePath + "/openapi", schemaPath: "#/properties/openapi/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs8 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.models !== undefined) {
const _errs10 = errors;
if (typeof data.models !== "string") {
validate200.errors = [{ instancePath: instancePath + "/models", schemaPath: "#/properties/models/type", keyword: "type", params: { type: "string" } }];
return false;
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
validate200.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate200.errors = vErrors;
return errors === 0;
}
validate200.evaluated = { props: { name: true, description: true, version: true, docs: true, openapi: true, models: true }, dynamicProps: false, dynamicItems: false };
var validateSpeechEvent = validate201;
var schema222 = { type: "object", properties: { type: { enum: ["speech.audio.delta", "speech.audio.done"] }, audio: { type: "string" }, usage: { type: "object", required: ["input_tokens", "output_tokens", "total_tokens"], properties: { input_tokens: { type: "integer", minimum: 0 }, output_tokens: { type: "integer", minimum: 0 }, total_tokens: { type: "integer", minimum: 0 }, characters: { type: "integer", minimum: 0 } } }, error: { type: "object", required: ["message", "type", "code", "param"], properties: { message: { type: "string" }, type: { type: "string" }, code: { type: "string" }, param: { type: ["string", "null"] } } } } };
function validate201(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate201.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
if (data.type !== undefined) {
let data0 = data.type;
const _errs1 = errors;
if (!(data0 === "speech.audio.delta" || data0 === "speech.audio.done")) {
validate201.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/properties/type/enum", keyword: "enum", params: { allowedValues: schema222.properties.type.enum } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.audio !== undefined) {
const _errs2 = errors;
if (typeof data.audio !== "string") {
validate201.errors = [{ instancePath: instancePath + "/audio", schemaPath: "#/properties/audio/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.usage !== undefined) {
let data2 = data.usage;
const _errs4 = errors;
if (errors === _errs4) {
if (data2 && typeof data2 == "object" && !Array.isArray(data2)) {
let missing0;
if (data2.input_tokens === undefined && (missing0 = "input_tokens") || data2.output_tokens === undefined && (missing0 = "output_tokens") || data2.total_tokens === undefined && (missing0 = "total_tokens")) {
validate201.errors = [{ instancePath: instancePath + "/usage", schemaPath: "#/properties/usage/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data2.input_tokens !== undefined) {
let data3 = data2.input_tokens;
const _errs6 = errors;
if (!(typeof data3 == "number" && (!(data3 % 1) && !isNaN(data3)) && isFinite(data3))) {
validate201.errors = [{ instancePath: instancePath + "/usage/input_tokens", schemaPath: "#/properties/usage/properties/input_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs6) {
if (typeof data3 == "number" && isFinite(data3)) {
if (data3 < 0 || isNaN(data3)) {
validate201.errors = [{ instancePath: instancePath + "/usage/input_tokens", schemaPath: "#/properties/usage/properties/input_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid1 = _errs6 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data2.output_tokens !== undefined) {
let data4 = data2.output_tokens;
const _errs8 = errors;
if (!(typeof data4 == "number" && (!(data4 % 1) && !isNaN(data4)) && isFinite(data4))) {
validate201.errors = [{ instancePath: instancePath + "/usage/output_tokens", schemaPath: "#/properties/usage/properties/output_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs8) {
if (typeof data4 == "number" && isFinite(data4)) {
if (data4 < 0 || isNaN(data4)) {
validate201.errors = [{ instancePath: instancePath + "/usage/output_tokens", schemaPath: "#/properties/usage/properties/output_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid1 = _errs8 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data2.total_tokens !== undefined) {
let data5 = data2.total_tokens;
const _errs10 = errors;
if (!(typeof data5 == "number" && (!(data5 % 1) && !isNaN(data5)) && isFinite(data5))) {
validate201.errors = [{ instancePath: instancePath + "/usage/total_tokens", schemaPath: "#/properties/usage/properties/total_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs10) {
if (typeof data5 == "number" && isFinite(data5)) {
if (data5 < 0 || isNaN(data5)) {
validate201.errors = [{ instancePath: instancePath + "/usage/total_tokens", schemaPath: "#/properties/usage/properties/total_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid1 = _errs10 === errors;
} else {
var valid1 = true;
}
if (valid1) {
if (data2.characters !== undefined) {
let data6 = data2.characters;
const _errs12 = errors;
if (!(typeof data6 == "number" && (!(data6 % 1) && !isNaN(data6)) && isFinite(data6))) {
validate201.errors = [{ instancePath: instancePath + "/usage/characters", schemaPath: "#/properties/usage/properties/characters/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs12) {
if (typeof data6 == "number" && isFinite(data6)) {
if (data6 < 0 || isNaN(data6)) {
validate201.errors = [{ instancePath: instancePath + "/usage/characters", schemaPath: "#/properties/usage/properties/characters/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
var valid1 = _errs12 === errors;
} else {
var valid1 = true;
}
}
}
}
}
} else {
validate201.errors = [{ instancePath: instancePath + "/usage", schemaPath: "#/properties/usage/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.error !== undefined) {
let data7 = data.error;
const _errs14 = errors;
if (errors === _errs14) {
if (data7 && typeof data7 == "object" && !Array.isArray(data7)) {
let missing1;
if (data7.message === undefined && (missing1 = "message") || data7.type === undefined && (missing1 = "type") || data7.code === undefined && (missing1 = "code") || data7.param === undefined && (missing1 = "param")) {
validate201.errors = [{ instancePath: instancePath + "/error", schemaPath: "#/properties/error/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data7.message !== undefined) {
const _errs16 = errors;
if (typeof data7.message !== "string") {
validate201.errors = [{ instancePath: instancePath + "/error/message", schemaPath: "#/properties/error/properties/message/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid2 = _errs16 === errors;
} else {
var valid2 = true;
}
if (valid2) {
if (data7.type !== undefined) {
const _errs18 = errors;
if (typeof data7.type !== "string") {
validate201.errors = [{ instancePath: instancePath + "/error/type", schemaPath: "#/properties/error/properties/type/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid2 = _errs18 === errors;
} else {
var valid2 = true;
}
if (valid2) {
if (data7.code !== undefined) {
const _errs20 = errors;
if (typeof data7.code !== "string") {
validate201.errors = [{ instancePath: instancePath + "/error/code", schemaPath: "#/properties/error/properties/code/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid2 = _errs20 === errors;
} else {
var valid2 = true;
}
if (valid2) {
if (data7.param !== undefined) {
let data11 = data7.param;
const _errs22 = errors;
if (typeof data11 !== "string" && data11 !== null) {
validate201.errors = [{ instancePath: instancePath + "/error/param", schemaPath: "#/properties/error/properties/param/type", keyword: "type", params: { type: schema222.properties.error.properties.param.type } }];
return false;
}
var valid2 = _errs22 === errors;
} else {
var valid2 = true;
}
}
}
}
}
} else {
validate201.errors = [{ instancePath: instancePath + "/error", schemaPath: "#/properties/error/type", keyword: "type", params: { type: "object" } }];
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
} else {
validate201.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate201.errors = vErrors;
return errors === 0;
}
validate201.evaluated = { props: { type: true, audio: true, usage: true, error: true }, dynamicProps: false, dynamicItems: false };
var validateTokenCount = validate202;
function validate202(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate202.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.input_tokens === undefined && (missing0 = "input_tokens")) {
validate202.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.input_tokens !== undefined) {
let data0 = data.input_tokens;
const _errs1 = errors;
if (!(typeof data0 == "number" && (!(data0 % 1) && !isNaN(data0)) && isFinite(data0))) {
validate202.errors = [{ instancePath: instancePath + "/input_tokens", schemaPath: "#/properties/input_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs1) {
if (typeof data0 == "number" && isFinite(data0)) {
if (data0 < 0 || isNaN(data0)) {
validate202.errors = [{ instancePath: instancePath + "/input_tokens", schemaPath: "#/properties/input_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
}
}
}
}
} else {
validate202.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate202.errors = vErrors;
return errors === 0;
}
validate202.evaluated = { props: { input_tokens: true }, dynamicProps: false, dynamicItems: false };
var validateTokenUsageReport = validate203;
function validate203(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate203.evaluated;
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
validate203.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.prompt_tokens !== undefined) {
let data0 = data.prompt_tokens;
const _errs1 = errors;
if (!(typeof data0 == "number" && (!(data0 % 1) && !isNaN(data0)) && isFinite(data0))) {
validate203.errors = [{ instancePath: instancePath + "/prompt_tokens", schemaPath: "#/properties/prompt_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs1) {
if (typeof data0 == "number" && isFinite(data0)) {
if (data0 < 0 || isNaN(data0)) {
validate203.errors = [{ instancePath: instancePath + "/prompt_tokens", schemaPath: "#/properties/prompt_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate203.errors = [{ instancePath: instancePath + "/completion_tokens", schemaPath: "#/properties/completion_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs3) {
if (typeof data1 == "number" && isFinite(data1)) {
if (data1 < 0 || isNaN(data1)) {
validate203.errors = [{ instancePath: instancePath + "/completion_tokens", schemaPath: "#/properties/completion_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate203.errors = [{ instancePath: instancePath + "/total_tokens", schemaPath: "#/properties/total_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs5) {
if (typeof data2 == "number" && isFinite(data2)) {
if (data2 < 0 || isNaN(data2)) {
validate203.errors = [{ instancePath: instancePath + "/total_tokens", schemaPath: "#/properties/total_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate203.errors = [{ instancePath: instancePath + "/prompt_tokens_details/cached_tokens", schemaPath: "#/properties/prompt_tokens_details/properties/cached_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs9) {
if (typeof data4 == "number" && isFinite(data4)) {
if (data4 < 0 || isNaN(data4)) {
validate203.errors = [{ instancePath: instancePath + "/prompt_tokens_details/cached_tokens", schemaPath: "#/properties/prompt_tokens_details/properties/cached_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate203.errors = [{ instancePath: instancePath + "/prompt_tokens_details/cache_write_tokens", schemaPath: "#/properties/prompt_tokens_details/properties/cache_write_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs11) {
if (typeof data5 == "number" && isFinite(data5)) {
if (data5 < 0 || isNaN(data5)) {
validate203.errors = [{ instancePath: instancePath + "/prompt_tokens_details/cache_write_tokens", schemaPath: "#/properties/prompt_tokens_details/properties/cache_write_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate203.errors = [{ instancePath: instancePath + "/prompt_tokens_details/audio_tokens", schemaPath: "#/properties/prompt_tokens_details/properties/audio_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs13) {
if (typeof data6 == "number" && isFinite(data6)) {
if (data6 < 0 || isNaN(data6)) {
validate203.errors = [{ instancePath: instancePath + "/prompt_tokens_details/audio_tokens", schemaPath: "#/properties/prompt_tokens_details/properties/audio_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate203.errors = [{ instancePath: instancePath + "/prompt_tokens_details/image_tokens", schemaPath: "#/properties/prompt_tokens_details/properties/image_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs15) {
if (typeof data7 == "number" && isFinite(data7)) {
if (data7 < 0 || isNaN(data7)) {
validate203.errors = [{ instancePath: instancePath + "/prompt_tokens_details/image_tokens", schemaPath: "#/properties/prompt_tokens_details/properties/image_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate203.errors = [{ instancePath: instancePath + "/prompt_tokens_details", schemaPath: "#/properties/prompt_tokens_details/type", keyword: "type", params: { type: "object" } }];
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
validate203.errors = [{ instancePath: instancePath + "/completion_tokens_details/reasoning_tokens", schemaPath: "#/properties/completion_tokens_details/properties/reasoning_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs19) {
if (typeof data9 == "number" && isFinite(data9)) {
if (data9 < 0 || isNaN(data9)) {
validate203.errors = [{ instancePath: instancePath + "/completion_tokens_details/reasoning_tokens", schemaPath: "#/properties/completion_tokens_details/properties/reasoning_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate203.errors = [{ instancePath: instancePath + "/completion_tokens_details/audio_tokens", schemaPath: "#/properties/completion_tokens_details/properties/audio_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs21) {
if (typeof data10 == "number" && isFinite(data10)) {
if (data10 < 0 || isNaN(data10)) {
validate203.errors = [{ instancePath: instancePath + "/completion_tokens_details/audio_tokens", schemaPath: "#/properties/completion_tokens_details/properties/audio_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate203.errors = [{ instancePath: instancePath + "/completion_tokens_details/image_tokens", schemaPath: "#/properties/completion_tokens_details/properties/image_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs23) {
if (typeof data11 == "number" && isFinite(data11)) {
if (data11 < 0 || isNaN(data11)) {
validate203.errors = [{ instancePath: instancePath + "/completion_tokens_details/image_tokens", schemaPath: "#/properties/completion_tokens_details/properties/image_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate203.errors = [{ instancePath: instancePath + "/completion_tokens_details/accepted_prediction_tokens", schemaPath: "#/properties/completion_tokens_details/properties/accepted_prediction_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs25) {
if (typeof data12 == "number" && isFinite(data12)) {
if (data12 < 0 || isNaN(data12)) {
validate203.errors = [{ instancePath: instancePath + "/completion_tokens_details/accepted_prediction_tokens", schemaPath: "#/properties/completion_tokens_details/properties/accepted_prediction_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate203.errors = [{ instancePath: instancePath + "/completion_tokens_details/rejected_prediction_tokens", schemaPath: "#/properties/completion_tokens_details/properties/rejected_prediction_tokens/type", keyword: "type", params: { type: "integer" } }];
return false;
}
if (errors === _errs27) {
if (typeof data13 == "number" && isFinite(data13)) {
if (data13 < 0 || isNaN(data13)) {
validate203.errors = [{ instancePath: instancePath + "/completion_tokens_details/rejected_prediction_tokens", schemaPath: "#/properties/completion_tokens_details/properties/rejected_prediction_tokens/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
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
validate203.errors = [{ instancePath: instancePath + "/completion_tokens_details", schemaPath: "#/properties/completion_tokens_details/type", keyword: "type", params: { type: "object" } }];
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
validate203.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate203.errors = vErrors;
return errors === 0;
}
validate203.evaluated = { props: { prompt_tokens: true, completion_tokens: true, total_tokens: true, prompt_tokens_details: true, completion_tokens_details: true }, dynamicProps: false, dynamicItems: false };
var validateTranscriptionEvent = validate204;
var schema225 = { type: "object", required: ["type"], properties: { type: { enum: ["transcript.text.delta", "transcript.text.done"] }, delta: { type: "string" }, text: { type: "string" }, usage: { type: "object" } } };
function validate204(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate204.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.type === undefined && (missing0 = "type")) {
validate204.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.type !== undefined) {
let data0 = data.type;
const _errs1 = errors;
if (!(data0 === "transcript.text.delta" || data0 === "transcript.text.done")) {
validate204.errors = [{ instancePath: instancePath + "/type", schemaPath: "#/properties/type/enum", keyword: "enum", params: { allowedValues: schema225.properties.type.enum } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.delta !== undefined) {
const _errs2 = errors;
if (typeof data.delta !== "string") {
validate204.errors = [{ instancePath: instancePath + "/delta", schemaPath: "#/properties/delta/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.text !== undefined) {
const _errs4 = errors;
if (typeof data.text !== "string") {
validate204.errors = [{ instancePath: instancePath + "/text", schemaPath: "#/properties/text/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.usage !== undefined) {
let data3 = data.usage;
const _errs6 = errors;
if (!(data3 && typeof data3 == "object" && !Array.isArray(data3))) {
validate204.errors = [{ instancePath: instancePath + "/usage", schemaPath: "#/properties/usage/type", keyword: "type", params: { type: "object" } }];
return false;
}
var valid0 = _errs6 === errors;
} else {
var valid0 = true;
}
}
}
}
}
} else {
validate204.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate204.errors = vErrors;
return errors === 0;
}
validate204.evaluated = { props: { type: true, delta: true, text: true, usage: true }, dynamicProps: false, dynamicItems: false };
var validateTranscription = validate205;
var schema226 = { type: "object", required: ["text"], properties: { task: { const: "transcribe" }, language: { type: "string" }, duration: { type: "number", minimum: 0 }, text: { type: "string" }, words: { type: "array", items: { $ref: "TranscriptionWord" } }, segments: { type: "array", items: { $ref: "TranscriptionSegment" } }, usage: { type: "object", required: ["type"], properties: { type: { enum: ["duration", "tokens"] }, seconds: { type: "number", minimum: 0 } } } } };
function validate205(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate205.evaluated;
if (evaluated0.dynamicProps) {
evaluated0.props = undefined;
}
if (evaluated0.dynamicItems) {
evaluated0.items = undefined;
}
if (errors === 0) {
if (data && typeof data == "object" && !Array.isArray(data)) {
let missing0;
if (data.text === undefined && (missing0 = "text")) {
validate205.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.task !== undefined) {
const _errs1 = errors;
if (data.task !== "transcribe") {
validate205.errors = [{ instancePath: instancePath + "/task", schemaPath: "#/properties/task/const", keyword: "const", params: { allowedValue: "transcribe" } }];
return false;
}
var valid0 = _errs1 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.language !== undefined) {
const _errs2 = errors;
if (typeof data.language !== "string") {
validate205.errors = [{ instancePath: instancePath + "/language", schemaPath: "#/properties/language/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs2 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.duration !== undefined) {
let data2 = data.duration;
const _errs4 = errors;
if (errors === _errs4) {
if (typeof data2 == "number" && isFinite(data2)) {
if (data2 < 0 || isNaN(data2)) {
validate205.errors = [{ instancePath: instancePath + "/duration", schemaPath: "#/properties/duration/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate205.errors = [{ instancePath: instancePath + "/duration", schemaPath: "#/properties/duration/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid0 = _errs4 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.text !== undefined) {
const _errs6 = errors;
if (typeof data.text !== "string") {
validate205.errors = [{ instancePath: instancePath + "/text", schemaPath: "#/properties/text/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid0 = _errs6 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.words !== undefined) {
let data4 = data.words;
const _errs8 = errors;
if (errors === _errs8) {
if (Array.isArray(data4)) {
var valid1 = true;
const len0 = data4.length;
for (let i0 = 0;i0 < len0; i0++) {
let data5 = data4[i0];
const _errs10 = errors;
const _errs11 = errors;
if (errors === _errs11) {
if (data5 && typeof data5 == "object" && !Array.isArray(data5)) {
let missing1;
if (data5.word === undefined && (missing1 = "word") || data5.start === undefined && (missing1 = "start") || data5.end === undefined && (missing1 = "end")) {
validate205.errors = [{ instancePath: instancePath + "/words/" + i0, schemaPath: "TranscriptionWord/required", keyword: "required", params: { missingProperty: missing1 } }];
return false;
} else {
if (data5.word !== undefined) {
const _errs13 = errors;
if (typeof data5.word !== "string") {
validate205.errors = [{ instancePath: instancePath + "/words/" + i0 + "/word", schemaPath: "TranscriptionWord/properties/word/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid3 = _errs13 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data5.start !== undefined) {
let data7 = data5.start;
const _errs15 = errors;
if (!(typeof data7 == "number" && isFinite(data7))) {
validate205.errors = [{ instancePath: instancePath + "/words/" + i0 + "/start", schemaPath: "TranscriptionWord/properties/start/type", keyword: "type", params: { type: "number" } }];
return false;
}
var valid3 = _errs15 === errors;
} else {
var valid3 = true;
}
if (valid3) {
if (data5.end !== undefined) {
let data8 = data5.end;
const _errs17 = errors;
if (!(typeof data8 == "number" && isFinite(data8))) {
validate205.errors = [{ instancePath: instancePath + "/words/" + i0 + "/end", schemaPath: "TranscriptionWord/properties/end/type", keyword: "type", params: { type: "number" } }];
return false;
}
var valid3 = _errs17 === errors;
} else {
var valid3 = true;
}
}
}
}
} else {
validate205.errors = [{ instancePath: instancePath + "/words/" + i0, schemaPath: "TranscriptionWord/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid1 = _errs10 === errors;
if (!valid1) {
break;
}
}
} else {
validate205.errors = [{ instancePath: instancePath + "/words", schemaPath: "#/properties/words/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs8 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.segments !== undefined) {
let data9 = data.segments;
const _errs19 = errors;
if (errors === _errs19) {
if (Array.isArray(data9)) {
var valid4 = true;
const len1 = data9.length;
for (let i1 = 0;i1 < len1; i1++) {
let data10 = data9[i1];
const _errs21 = errors;
const _errs22 = errors;
if (errors === _errs22) {
if (data10 && typeof data10 == "object" && !Array.isArray(data10)) {
let missing2;
if (data10.id === undefined && (missing2 = "id") || data10.start === undefined && (missing2 = "start") || data10.end === undefined && (missing2 = "end") || data10.text === undefined && (missing2 = "text")) {
validate205.errors = [{ instancePath: instancePath + "/segments/" + i1, schemaPath: "TranscriptionSegment/required", keyword: "required", params: { missingProperty: missing2 } }];
return false;
} else {
if (data10.id !== undefined) {
let data11 = data10.id;
const _errs24 = errors;
if (!(typeof data11 == "number" && (!(data11 % 1) && !isNaN(data11)) && isFinite(data11))) {
validate205.errors = [{ instancePath: instancePath + "/segments/" + i1 + "/id", schemaPath: "TranscriptionSegment/properties/id/type", keyword: "type", params: { type: "integer" } }];
return false;
}
var valid6 = _errs24 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data10.start !== undefined) {
let data12 = data10.start;
const _errs26 = errors;
if (!(typeof data12 == "number" && isFinite(data12))) {
validate205.errors = [{ instancePath: instancePath + "/segments/" + i1 + "/start", schemaPath: "TranscriptionSegment/properties/start/type", keyword: "type", params: { type: "number" } }];
return false;
}
var valid6 = _errs26 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data10.end !== undefined) {
let data13 = data10.end;
const _errs28 = errors;
if (!(typeof data13 == "number" && isFinite(data13))) {
validate205.errors = [{ instancePath: instancePath + "/segments/" + i1 + "/end", schemaPath: "TranscriptionSegment/properties/end/type", keyword: "type", params: { type: "number" } }];
return false;
}
var valid6 = _errs28 === errors;
} else {
var valid6 = true;
}
if (valid6) {
if (data10.text !== undefined) {
const _errs30 = errors;
if (typeof data10.text !== "string") {
validate205.errors = [{ instancePath: instancePath + "/segments/" + i1 + "/text", schemaPath: "TranscriptionSegment/properties/text/type", keyword: "type", params: { type: "string" } }];
return false;
}
var valid6 = _errs30 === errors;
} else {
var valid6 = true;
}
}
}
}
}
} else {
validate205.errors = [{ instancePath: instancePath + "/segments/" + i1, schemaPath: "TranscriptionSegment/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
var valid4 = _errs21 === errors;
if (!valid4) {
break;
}
}
} else {
validate205.errors = [{ instancePath: instancePath + "/segments", schemaPath: "#/properties/segments/type", keyword: "type", params: { type: "array" } }];
return false;
}
}
var valid0 = _errs19 === errors;
} else {
var valid0 = true;
}
if (valid0) {
if (data.usage !== undefined) {
let data15 = data.usage;
const _errs32 = errors;
if (errors === _errs32) {
if (data15 && typeof data15 == "object" && !Array.isArray(data15)) {
let missing3;
if (data15.type === undefined && (missing3 = "type")) {
validate205.errors = [{ instancePath: instancePath + "/usage", schemaPath: "#/properties/usage/required", keyword: "required", params: { missingProperty: missing3 } }];
return false;
} else {
if (data15.type !== undefined) {
let data16 = data15.type;
const _errs34 = errors;
if (!(data16 === "duration" || data16 === "tokens")) {
validate205.errors = [{ instancePath: instancePath + "/usage/type", schemaPath: "#/properties/usage/properties/type/enum", keyword: "enum", params: { allowedValues: schema226.properties.usage.properties.type.enum } }];
return false;
}
var valid7 = _errs34 === errors;
} else {
var valid7 = true;
}
if (valid7) {
if (data15.seconds !== undefined) {
let data17 = data15.seconds;
const _errs35 = errors;
if (errors === _errs35) {
if (typeof data17 == "number" && isFinite(data17)) {
if (data17 < 0 || isNaN(data17)) {
validate205.errors = [{ instancePath: instancePath + "/usage/seconds", schemaPath: "#/properties/usage/properties/seconds/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate205.errors = [{ instancePath: instancePath + "/usage/seconds", schemaPath: "#/properties/usage/properties/seconds/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid7 = _errs35 === errors;
} else {
var valid7 = true;
}
}
}
} else {
validate205.errors = [{ instancePath: instancePath + "/usage", schemaPath: "#/properties/usage/type", keyword: "type", params: { type: "object" } }];
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
}
}
}
}
} else {
validate205.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate205.errors = vErrors;
return errors === 0;
}
validate205.evaluated = { props: { task: true, language: true, duration: true, text: true, words: true, segments: true, usage: true }, dynamicProps: false, dynamicItems: false };
var validateUsageRecord = validate206;
var schema229 = { type: "object", required: ["request_id", "job_id", "kind", "model", "status", "units", "credits", "estimated", "created"], properties: { request_id: { type: "string" }, job_id: { type: "string", format: "uuid" }, kind: { type: "string", enum: ["chat"] }, model: { type: "string" }, requested_model: { type: "string" }, status: { type: "string", enum: ["succeeded", "failed", "cancelled", "lost"] }, units: { type: "object", additionalProperties: { type: "number", minimum: 0 } }, credits: { type: "number", minimum: 0 }, uncollected_credits: { type: "number", minimum: 0 }, estimated: { type: "boolean" }, created: { type: "integer" } } };
function validate206(data, { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {}) {
let vErrors = null;
let errors = 0;
const evaluated0 = validate206.evaluated;
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
validate206.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
return false;
} else {
if (data.request_id !== undefined) {
const _errs1 = errors;
if (typeof data.request_id !== "string") {
validate206.errors = [{ instancePath: instancePath + "/request_id", schemaPath: "#/properties/request_id/type", keyword: "type", params: { type: "string" } }];
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
if (!formats0.test(data1)) {
validate206.errors = [{ instancePath: instancePath + "/job_id", schemaPath: "#/properties/job_id/format", keyword: "format", params: { format: "uuid" } }];
return false;
}
} else {
validate206.errors = [{ instancePath: instancePath + "/job_id", schemaPath: "#/properties/job_id/type", keyword: "type", params: { type: "string" } }];
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
validate206.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data2 === "chat")) {
validate206.errors = [{ instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/enum", keyword: "enum", params: { allowedValues: schema229.properties.kind.enum } }];
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
validate206.errors = [{ instancePath: instancePath + "/model", schemaPath: "#/properties/model/type", keyword: "type", params: { type: "string" } }];
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
validate206.errors = [{ instancePath: instancePath + "/requested_model", schemaPath: "#/properties/requested_model/type", keyword: "type", params: { type: "string" } }];
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
validate206.errors = [{ instancePath: instancePath + "/status", schemaPath: "#/properties/status/type", keyword: "type", params: { type: "string" } }];
return false;
}
if (!(data5 === "succeeded" || data5 === "failed" || data5 === "cancelled" || data5 === "lost")) {
validate206.errors = [{ instancePath: instancePath + "/status", schemaPath: "#/properties/status/enum", keyword: "enum", params: { allowedValues: schema229.properties.status.enum } }];
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
validate206.errors = [{ instancePath: instancePath + "/units/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/units/additionalProperties/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate206.errors = [{ instancePath: instancePath + "/units/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"), schemaPath: "#/properties/units/additionalProperties/type", keyword: "type", params: { type: "number" } }];
return false;
}
}
var valid1 = _errs16 === errors;
if (!valid1) {
break;
}
}
} else {
validate206.errors = [{ instancePath: instancePath + "/units", schemaPath: "#/properties/units/type", keyword: "type", params: { type: "object" } }];
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
validate206.errors = [{ instancePath: instancePath + "/credits", schemaPath: "#/properties/credits/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate206.errors = [{ instancePath: instancePath + "/credits", schemaPath: "#/properties/credits/type", keyword: "type", params: { type: "number" } }];
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
validate206.errors = [{ instancePath: instancePath + "/uncollected_credits", schemaPath: "#/properties/uncollected_credits/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
return false;
}
} else {
validate206.errors = [{ instancePath: instancePath + "/uncollected_credits", schemaPath: "#/properties/uncollected_credits/type", keyword: "type", params: { type: "number" } }];
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
validate206.errors = [{ instancePath: instancePath + "/estimated", schemaPath: "#/properties/estimated/type", keyword: "type", params: { type: "boolean" } }];
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
validate206.errors = [{ instancePath: instancePath + "/created", schemaPath: "#/properties/created/type", keyword: "type", params: { type: "integer" } }];
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
validate206.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
return false;
}
}
validate206.errors = vErrors;
return errors === 0;
}
validate206.evaluated = { props: { request_id: true, job_id: true, kind: true, model: true, requested_model: true, status: true, units: true, credits: true, uncollected_credits: true, estimated: true, created: true }, dynamicProps: false, dynamicItems: false };
var validators = {
AllowedParams: validateAllowedParams,
BatchAnswer: validateBatchAnswer,
BatchMessage: validateBatchMessage,
CatalogueFile: validateCatalogueFile,
ChatLogprobs: validateChatLogprobs,
ChatMessage: validateChatMessage,
ChatTool: validateChatTool,
DurableMessage: validateDurableMessage,
ErrorEnvelope: validateErrorEnvelope,
BudgetThresholdReached: validateBudgetThresholdReached,
JobCompleted: validateJobCompleted,
JobFailed: validateJobFailed,
RunCancelled: validateRunCancelled,
RunFailed: validateRunFailed,
RunRetrying: validateRunRetrying,
RunStarted: validateRunStarted,
RunSucceeded: validateRunSucceeded,
TemplateUnavailable: validateTemplateUnavailable,
JobMessage: validateJobMessage,
MediaOutcome: validateMediaOutcome,
ModelEntry: validateModelEntry,
PresetEntry: validatePresetEntry,
Pricing: validatePricing,
ProviderEntry: validateProviderEntry,
ChatCompletionRequest: validateChatCompletionRequest,
CountTokensRequest: validateCountTokensRequest,
EmbeddingsRequest: validateEmbeddingsRequest,
EstimateRequest: validateEstimateRequest,
FallbackChainRequest: validateFallbackChainRequest,
FileUpload: validateFileUpload,
ImageEditRequest: validateImageEditRequest,
ImageGenerationRequest: validateImageGenerationRequest,
MeshGenerationRequest: validateMeshGenerationRequest,
MessagesRequest: validateMessagesRequest,
MusicGenerationRequest: validateMusicGenerationRequest,
SpeechRequest: validateSpeechRequest,
TranscriptionRequest: validateTranscriptionRequest,
VideoGenerationRequest: validateVideoGenerationRequest,
ChatCompletionChunk: validateChatCompletionChunk,
ChatCompletion: validateChatCompletion,
Embeddings: validateEmbeddings,
Estimate: validateEstimate,
FallbackChainDeleted: validateFallbackChainDeleted,
FallbackChainList: validateFallbackChainList,
FallbackChain: validateFallbackChain,
FileDeleted: validateFileDeleted,
FileList: validateFileList,
File: validateFile,
Health: validateHealth,
Job: validateJob,
Key: validateKey,
MediaState: validateMediaState,
MediaResults: validateMediaResults,
MessageEvent: validateMessageEvent,
Message: validateMessage,
ModelList: validateModelList,
Service: validateService,
SpeechEvent: validateSpeechEvent,
TokenCount: validateTokenCount,
TokenUsageReport: validateTokenUsageReport,
TranscriptionEvent: validateTranscriptionEvent,
Transcription: validateTranscription,
UsageRecord: validateUsageRecord
};
function isObject(value) {
return typeof value === "object" && value !== null && !Array.isArray(value);
}
var checkedPattern0 = new RegExp("^([Hh][Tt][Tt][Pp][Ss]?://|[Dd][Aa][Tt][Aa]:)", "u");
var checkedPattern1 = new RegExp("^[a-zA-Z0-9_-]{1,64}$", "u");
var checkedPattern2 = new RegExp("^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$", "u");
var checkedPattern3 = new RegExp("^[0-9]{1,19}$", "u");
var checkedPattern4 = new RegExp("^[0-9a-f]{64}$", "u");
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
const v72 = value["stream"];
if (v72 !== undefined) {
if (!(typeof v72 === "boolean" || v72 === null))
return false;
}
const v73 = value["stream_options"];
if (v73 !== undefined) {
if (!(isObject(v73) || v73 === null))
return false;
if (isObject(v73)) {
const v74 = v73["include_usage"];
if (v74 !== undefined) {
if (!(typeof v74 === "boolean"))
return false;
}
const v75 = v73["include_obfuscation"];
if (v75 !== undefined) {
if (!(typeof v75 === "boolean"))
return false;
}
}
}
const v76 = value["max_completion_tokens"];
if (v76 !== undefined) {
if (!(Number.isInteger(v76) || v76 === null))
return false;
if (Number.isFinite(v76)) {
if (!(v76 >= 1))
return false;
if (!(v76 <= 2147483647))
return false;
}
}
const v77 = value["max_tokens"];
if (v77 !== undefined) {
if (!(Number.isInteger(v77) || v77 === null))
return false;
if (Number.isFinite(v77)) {
if (!(v77 >= 1))
return false;
if (!(v77 <= 2147483647))
return false;
}
}
const v78 = value["temperature"];
if (v78 !== undefined) {
if (!(Number.isFinite(v78) || v78 === null))
return false;
if (Number.isFinite(v78)) {
if (!(v78 >= 0))
return false;
if (!(v78 <= 2))
return false;
}
}
const v79 = value["top_p"];
if (v79 !== undefined) {
if (!(Number.isFinite(v79) || v79 === null))
return false;
if (Number.isFinite(v79)) {
if (!(v79 >= 0))
return false;
if (!(v79 <= 1))
return false;
}
}
const v80 = value["n"];
if (v80 !== undefined) {
if (!(Number.isInteger(v80) || v80 === null))
return false;
if (Number.isFinite(v80)) {
if (!(v80 >= 1))
return false;
if (!(v80 <= 128))
return false;
}
}
const v81 = value["stop"];
if (v81 !== undefined) {
if (!(typeof v81 === "string" || Array.isArray(v81) || v81 === null))
return false;
if (Array.isArray(v81)) {
if (!(v81.length <= 16))
return false;
for (const v82 of v81) {
if (!(typeof v82 === "string"))
return false;
}
}
}
const v83 = value["frequency_penalty"];
if (v83 !== undefined) {
if (!(Number.isFinite(v83) || v83 === null))
return false;
if (Number.isFinite(v83)) {
if (!(v83 >= -2))
return false;
if (!(v83 <= 2))
return false;
}
}
const v84 = value["presence_penalty"];
if (v84 !== undefined) {
if (!(Number.isFinite(v84) || v84 === null))
return false;
if (Number.isFinite(v84)) {
if (!(v84 >= -2))
return false;
if (!(v84 <= 2))
return false;
}
}
const v85 = value["logit_bias"];
if (v85 !== undefined) {
if (!(isObject(v85) || v85 === null))
return false;
if (isObject(v85)) {
for (const v86 in v85) {
const v87 = v85[v86];
if (!Number.isFinite(v87))
return false;
if (!(v87 >= -100))
return false;
if (!(v87 <= 100))
return false;
}
}
}
const v88 = value["logprobs"];
if (v88 !== undefined) {
if (!(typeof v88 === "boolean" || v88 === null))
return false;
}
const v89 = value["top_logprobs"];
if (v89 !== undefined) {
if (!(Number.isInteger(v89) || v89 === null))
return false;
if (Number.isFinite(v89)) {
if (!(v89 >= 0))
return false;
if (!(v89 <= 20))
return false;
}
}
const v90 = value["seed"];
if (v90 !== undefined) {
if (!(Number.isInteger(v90) || v90 === null))
return false;
if (Number.isFinite(v90)) {
if (!(v90 >= -9223372036854776000))
return false;
if (!(v90 <= 9223372036854776000))
return false;
}
}
const v91 = value["tools"];
if (v91 !== undefined) {
if (!Array.isArray(v91))
return false;
for (const v92 of v91) {
if (!isChatTool(v92))
return false;
}
}
const v109 = value["tool_choice"];
if (v109 !== undefined) {
if (!isToolChoice(v109))
return false;
}
const v121 = value["parallel_tool_calls"];
if (v121 !== undefined) {
if (!(typeof v121 === "boolean"))
return false;
}
const v122 = value["response_format"];
if (v122 !== undefined) {
if (!isResponseFormat(v122))
return false;
}
const v131 = value["reasoning_effort"];
if (v131 !== undefined) {
if (!(typeof v131 === "string" || v131 === null))
return false;
if (typeof v131 === "string") {
if (!(v131.length <= 40))
return false;
}
}
const v132 = value["verbosity"];
if (v132 !== undefined) {
if (!(v132 === "low" || v132 === "medium" || v132 === "high" || v132 === null))
return false;
}
const v133 = value["modalities"];
if (v133 !== undefined) {
if (!(Array.isArray(v133) || v133 === null))
return false;
if (Array.isArray(v133)) {
for (const v134 of v133) {
if (!(v134 === "text" || v134 === "audio"))
return false;
}
}
}
const v135 = value["audio"];
if (v135 !== undefined) {
if (!(isObject(v135) || v135 === null))
return false;
if (isObject(v135)) {
if (!(v135["voice"] !== undefined))
return false;
if (!(v135["format"] !== undefined))
return false;
const v136 = v135["voice"];
if (v136 !== undefined) {
if (!(typeof v136 === "string" || isObject(v136)))
return false;
if (isObject(v136)) {
if (!(v136["id"] !== undefined))
return false;
const v137 = v136["id"];
if (v137 !== undefined) {
if (!(typeof v137 === "string"))
return false;
}
}
}
const v138 = v135["format"];
if (v138 !== undefined) {
if (!(v138 === "wav" || v138 === "aac" || v138 === "mp3" || v138 === "flac" || v138 === "opus" || v138 === "pcm16"))
return false;
}
}
}
const v139 = value["prediction"];
if (v139 !== undefined) {
if (!(isObject(v139) || v139 === null))
return false;
if (isObject(v139)) {
if (!(v139["type"] !== undefined))
return false;
if (!(v139["content"] !== undefined))
return false;
const v140 = v139["type"];
if (v140 !== undefined) {
if (!(v140 === "content"))
return false;
}
const v141 = v139["content"];
if (v141 !== undefined) {
if (!(typeof v141 === "string" || Array.isArray(v141)))
return false;
if (Array.isArray(v141)) {
if (!(v141.length >= 1))
return false;
for (const v142 of v141) {
if (!isTextOnlyBlock(v142))
return false;
}
}
}
}
}
const v143 = value["web_search_options"];
if (v143 !== undefined) {
if (!isObject(v143))
return false;
const v144 = v143["search_context_size"];
if (v144 !== undefined) {
if (!(v144 === "low" || v144 === "medium" || v144 === "high"))
return false;
}
const v145 = v143["user_location"];
if (v145 !== undefined) {
if (!(isObject(v145) || v145 === null))
return false;
if (isObject(v145)) {
if (!(v145["type"] !== undefined))
return false;
if (!(v145["approximate"] !== undefined))
return false;
const v146 = v145["type"];
if (v146 !== undefined) {
if (!(v146 === "approximate"))
return false;
}
const v147 = v145["approximate"];
if (v147 !== undefined) {
if (!isObject(v147))
return false;
const v148 = v147["country"];
if (v148 !== undefined) {
if (!(typeof v148 === "string"))
return false;
}
const v149 = v147["region"];
if (v149 !== undefined) {
if (!(typeof v149 === "string"))
return false;
}
const v150 = v147["city"];
if (v150 !== undefined) {
if (!(typeof v150 === "string"))
return false;
}
const v151 = v147["timezone"];
if (v151 !== undefined) {
if (!(typeof v151 === "string"))
return false;
}
}
}
}
}
const v152 = value["service_tier"];
if (v152 !== undefined) {
if (!(typeof v152 === "string" || v152 === null))
return false;
}
const v153 = value["store"];
if (v153 !== undefined) {
if (!(typeof v153 === "boolean" || v153 === null))
return false;
}
const v154 = value["metadata"];
if (v154 !== undefined) {
if (!(isObject(v154) || v154 === null))
return false;
if (isObject(v154)) {
for (const v155 in v154) {
const v156 = v154[v155];
if (!(typeof v156 === "string"))
return false;
}
}
}
const v157 = value["user"];
if (v157 !== undefined) {
if (!(typeof v157 === "string"))
return false;
}
const v158 = value["safety_identifier"];
if (v158 !== undefined) {
if (!(typeof v158 === "string" || v158 === null))
return false;
}
const v159 = value["prompt_cache_key"];
if (v159 !== undefined) {
if (!(typeof v159 === "string" || v159 === null))
return false;
}
const v160 = value["functions"];
if (v160 !== undefined) {
if (!Array.isArray(v160))
return false;
for (const v161 of v160) {
if (!isObject(v161))
return false;
if (!(v161["name"] !== undefined))
return false;
const v162 = v161["name"];
if (v162 !== undefined) {
if (!(typeof v162 === "string"))
return false;
}
}
}
const v163 = value["function_call"];
if (v163 !== undefined) {
if (!(typeof v163 === "string" || isObject(v163)))
return false;
if (isObject(v163)) {
if (!(v163["name"] !== undefined))
return false;
const v164 = v163["name"];
if (v164 !== undefined) {
if (!(typeof v164 === "string"))
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
if (!checkedPattern0.test(v19))
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
const v64 = value["content"];
if (v64 !== undefined) {
if (!(typeof v64 === "string" || Array.isArray(v64)))
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
const v42 = value["thinking_blocks"];
if (v42 !== undefined) {
if (!(Array.isArray(v42) || v42 === null))
return false;
if (Array.isArray(v42)) {
for (const v43 of v42) {
if (!isObject(v43))
return false;
}
}
}
const v44 = value["tool_calls"];
if (v44 !== undefined) {
if (!Array.isArray(v44))
return false;
for (const v45 of v44) {
if (!isToolCall(v45))
return false;
}
}
const v56 = value["function_call"];
if (v56 !== undefined) {
if (!(isObject(v56) || v56 === null))
return false;
if (isObject(v56)) {
if (!(v56["name"] !== undefined))
return false;
if (!(v56["arguments"] !== undefined))
return false;
const v57 = v56["name"];
if (v57 !== undefined) {
if (!(typeof v57 === "string"))
return false;
}
const v58 = v56["arguments"];
if (v58 !== undefined) {
if (!(typeof v58 === "string"))
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
const v46 = value["id"];
if (v46 !== undefined) {
if (!(typeof v46 === "string"))
return false;
}
const v47 = value["type"];
if (v47 !== undefined) {
if (!(v47 === "function"))
return false;
}
const v48 = value["function"];
if (v48 !== undefined) {
if (!isObject(v48))
return false;
if (!(v48["name"] !== undefined))
return false;
if (!(v48["arguments"] !== undefined))
return false;
const v49 = v48["name"];
if (v49 !== undefined) {
if (!(typeof v49 === "string"))
return false;
}
const v50 = v48["arguments"];
if (v50 !== undefined) {
if (!(typeof v50 === "string"))
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
const v51 = value["id"];
if (v51 !== undefined) {
if (!(typeof v51 === "string"))
return false;
}
const v52 = value["type"];
if (v52 !== undefined) {
if (!(v52 === "custom"))
return false;
}
const v53 = value["custom"];
if (v53 !== undefined) {
if (!isObject(v53))
return false;
if (!(v53["name"] !== undefined))
return false;
if (!(v53["input"] !== undefined))
return false;
const v54 = v53["name"];
if (v54 !== undefined) {
if (!(typeof v54 === "string"))
return false;
}
const v55 = v53["input"];
if (v55 !== undefined) {
if (!(typeof v55 === "string"))
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
const v59 = value["content"];
if (v59 !== undefined) {
if (!(typeof v59 === "string" || Array.isArray(v59)))
return false;
}
}
return true;
}
function is22(value) {
if (isObject(value)) {
if (!(value["tool_calls"] !== undefined))
return false;
const v60 = value["tool_calls"];
if (v60 !== undefined) {
if (!Array.isArray(v60))
return false;
if (!(v60.length >= 1))
return false;
}
}
return true;
}
function is23(value) {
if (isObject(value)) {
if (!(value["function_call"] !== undefined))
return false;
const v61 = value["function_call"];
if (v61 !== undefined) {
if (!isObject(v61))
return false;
}
}
return true;
}
function is24(value) {
if (isObject(value)) {
if (!(value["refusal"] !== undefined))
return false;
const v62 = value["refusal"];
if (v62 !== undefined) {
if (!(typeof v62 === "string"))
return false;
}
}
return true;
}
function is25(value) {
if (isObject(value)) {
if (!(value["audio"] !== undefined))
return false;
const v63 = value["audio"];
if (v63 !== undefined) {
if (!isObject(v63))
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
const v65 = value["role"];
if (v65 !== undefined) {
if (!(v65 === "tool"))
return false;
}
const v66 = value["content"];
if (v66 !== undefined) {
if (!(typeof v66 === "string" || Array.isArray(v66)))
return false;
if (Array.isArray(v66)) {
if (!(v66.length >= 1))
return false;
for (const v67 of v66) {
if (!isTextOnlyBlock(v67))
return false;
}
}
}
const v68 = value["tool_call_id"];
if (v68 !== undefined) {
if (!(typeof v68 === "string"))
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
const v69 = value["role"];
if (v69 !== undefined) {
if (!(v69 === "function"))
return false;
}
const v70 = value["content"];
if (v70 !== undefined) {
if (!(typeof v70 === "string" || v70 === null))
return false;
}
const v71 = value["name"];
if (v71 !== undefined) {
if (!(typeof v71 === "string"))
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
const v93 = value["type"];
if (v93 !== undefined) {
if (!(v93 === "function"))
return false;
}
const v94 = value["function"];
if (v94 !== undefined) {
if (!isFunctionDefinition(v94))
return false;
}
return true;
}
function isFunctionDefinition(value) {
if (!isObject(value))
return false;
if (!(value["name"] !== undefined))
return false;
const v95 = value["name"];
if (v95 !== undefined) {
if (!(typeof v95 === "string"))
return false;
if (!checkedPattern1.test(v95))
return false;
}
const v96 = value["description"];
if (v96 !== undefined) {
if (!(typeof v96 === "string"))
return false;
}
const v97 = value["parameters"];
if (v97 !== undefined) {
if (!isObject(v97))
return false;
}
const v98 = value["strict"];
if (v98 !== undefined) {
if (!(typeof v98 === "boolean" || v98 === null))
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
const v99 = value["type"];
if (v99 !== undefined) {
if (!(v99 === "custom"))
return false;
}
const v100 = value["custom"];
if (v100 !== undefined) {
if (!isObject(v100))
return false;
if (!(v100["name"] !== undefined))
return false;
const v101 = v100["name"];
if (v101 !== undefined) {
if (!(typeof v101 === "string"))
return false;
if (!(v101.length >= 1))
return false;
}
const v102 = v100["description"];
if (v102 !== undefined) {
if (!(typeof v102 === "string"))
return false;
}
const v103 = v100["format"];
if (v103 !== undefined) {
if (!isCustomToolFormat(v103))
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
const v104 = value["type"];
if (v104 !== undefined) {
if (!(v104 === "text"))
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
const v105 = value["type"];
if (v105 !== undefined) {
if (!(v105 === "grammar"))
return false;
}
const v106 = value["grammar"];
if (v106 !== undefined) {
if (!isObject(v106))
return false;
if (!(v106["definition"] !== undefined))
return false;
if (!(v106["syntax"] !== undefined))
return false;
const v107 = v106["definition"];
if (v107 !== undefined) {
if (!(typeof v107 === "string"))
return false;
}
const v108 = v106["syntax"];
if (v108 !== undefined) {
if (!(v108 === "lark" || v108 === "regex"))
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
const v110 = value["type"];
if (v110 !== undefined) {
if (!(v110 === "function"))
return false;
}
const v111 = value["function"];
if (v111 !== undefined) {
if (!isObject(v111))
return false;
if (!(v111["name"] !== undefined))
return false;
const v112 = v111["name"];
if (v112 !== undefined) {
if (!(typeof v112 === "string"))
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
const v113 = value["type"];
if (v113 !== undefined) {
if (!(v113 === "custom"))
return false;
}
const v114 = value["custom"];
if (v114 !== undefined) {
if (!isObject(v114))
return false;
if (!(v114["name"] !== undefined))
return false;
const v115 = v114["name"];
if (v115 !== undefined) {
if (!(typeof v115 === "string"))
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
const v116 = value["type"];
if (v116 !== undefined) {
if (!(v116 === "allowed_tools"))
return false;
}
const v117 = value["allowed_tools"];
if (v117 !== undefined) {
if (!isObject(v117))
return false;
if (!(v117["mode"] !== undefined))
return false;
if (!(v117["tools"] !== undefined))
return false;
const v118 = v117["mode"];
if (v118 !== undefined) {
if (!(v118 === "auto" || v118 === "required"))
return false;
}
const v119 = v117["tools"];
if (v119 !== undefined) {
if (!Array.isArray(v119))
return false;
for (const v120 of v119) {
if (!isObject(v120))
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
const v123 = value["type"];
if (v123 !== undefined) {
if (!(v123 === "text"))
return false;
}
return true;
}
function isJsonObjectFormat(value) {
if (!isObject(value))
return false;
if (!(value["type"] !== undefined))
return false;
const v124 = value["type"];
if (v124 !== undefined) {
if (!(v124 === "json_object"))
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
const v125 = value["type"];
if (v125 !== undefined) {
if (!(v125 === "json_schema"))
return false;
}
const v126 = value["json_schema"];
if (v126 !== undefined) {
if (!isObject(v126))
return false;
if (!(v126["name"] !== undefined))
return false;
const v127 = v126["name"];
if (v127 !== undefined) {
if (!(typeof v127 === "string"))
return false;
if (!checkedPattern1.test(v127))
return false;
}
const v128 = v126["description"];
if (v128 !== undefined) {
if (!(typeof v128 === "string"))
return false;
}
const v129 = v126["schema"];
if (v129 !== undefined) {
if (!isObject(v129))
return false;
}
const v130 = v126["strict"];
if (v130 !== undefined) {
if (!(typeof v130 === "boolean" || v130 === null))
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
const v165 = value["job_id"];
if (v165 !== undefined) {
if (!(typeof v165 === "string"))
return false;
if (!checkedPattern2.test(v165))
return false;
}
const v166 = value["attempt"];
if (v166 !== undefined) {
if (!Number.isInteger(v166))
return false;
if (!(v166 >= 1))
return false;
if (!(v166 <= 32767))
return false;
}
const v167 = value["dispatch"];
if (v167 !== undefined) {
if (!Number.isInteger(v167))
return false;
if (!(v167 >= 1))
return false;
}
const v168 = value["kind"];
if (v168 !== undefined) {
if (!(typeof v168 === "string"))
return false;
if (!(v168 === "chat" || v168 === "embeddings" || v168 === "images" || v168 === "image_edits" || v168 === "speech" || v168 === "transcription" || v168 === "video" || v168 === "music" || v168 === "mesh"))
return false;
}
const v169 = value["api"];
if (v169 !== undefined) {
if (!(typeof v169 === "string"))
return false;
if (!(v169 === "openai" || v169 === "anthropic"))
return false;
}
const v170 = value["request_id"];
if (v170 !== undefined) {
if (!(typeof v170 === "string"))
return false;
}
const v171 = value["workspace_id"];
if (v171 !== undefined) {
if (!(typeof v171 === "string"))
return false;
if (!checkedPattern2.test(v171))
return false;
}
const v172 = value["key_id"];
if (v172 !== undefined) {
if (!(typeof v172 === "string"))
return false;
if (!checkedPattern2.test(v172))
return false;
}
const v173 = value["model"];
if (v173 !== undefined) {
if (!(typeof v173 === "string"))
return false;
if (!(v173.length >= 1))
return false;
}
const v174 = value["hold_nano"];
if (v174 !== undefined) {
if (!(typeof v174 === "string"))
return false;
if (!checkedPattern3.test(v174))
return false;
}
const v175 = value["may_exceed"];
if (v175 !== undefined) {
if (!(typeof v175 === "boolean"))
return false;
}
const v176 = value["output_tokens_max"];
if (v176 !== undefined) {
if (!Number.isInteger(v176))
return false;
if (!(v176 >= 0))
return false;
}
const v177 = value["price"];
if (v177 !== undefined) {
if (!isObject(v177))
return false;
}
const v178 = value["deadline_ms"];
if (v178 !== undefined) {
if (!Number.isInteger(v178))
return false;
if (!(v178 >= 0))
return false;
}
const v179 = value["reply"];
if (v179 !== undefined) {
if (!(typeof v179 === "string"))
return false;
}
const v180 = value["repeat"];
if (v180 !== undefined) {
if (!(typeof v180 === "boolean"))
return false;
}
const v181 = value["fallbacks"];
if (v181 !== undefined) {
if (!Array.isArray(v181))
return false;
if (!(v181.length <= 10))
return false;
for (const v182 of v181) {
if (!(typeof v182 === "string"))
return false;
if (!(v182.length >= 1))
return false;
}
}
const v183 = value["continue_streams"];
if (v183 !== undefined) {
if (!(typeof v183 === "boolean"))
return false;
}
const v184 = value["stream"];
if (v184 !== undefined) {
if (!(typeof v184 === "boolean"))
return false;
}
const v185 = value["cache"];
if (v185 !== undefined) {
if (!isObject(v185))
return false;
if (!(v185["key"] !== undefined))
return false;
if (!(v185["ttl_s"] !== undefined))
return false;
const v186 = v185["key"];
if (v186 !== undefined) {
if (!(typeof v186 === "string"))
return false;
if (!checkedPattern4.test(v186))
return false;
}
const v187 = v185["ttl_s"];
if (v187 !== undefined) {
if (!Number.isInteger(v187))
return false;
if (!(v187 >= 1))
return false;
}
}
const v188 = value["stored_inputs"];
if (v188 !== undefined) {
if (!isObject(v188))
return false;
for (const v189 in v188) {
const v190 = v188[v189];
if (!isObject(v190))
return false;
if (!(v190["reference"] !== undefined))
return false;
if (!(v190["content_type"] !== undefined))
return false;
const v191 = v190["reference"];
if (v191 !== undefined) {
if (!(typeof v191 === "string"))
return false;
if (!(v191.length >= 1))
return false;
}
const v192 = v190["content_type"];
if (v192 !== undefined) {
if (!(typeof v192 === "string"))
return false;
if (!(v192.length >= 1))
return false;
}
}
}
const v193 = value["fingerprint"];
if (v193 !== undefined) {
if (!(typeof v193 === "string"))
return false;
if (!checkedPattern4.test(v193))
return false;
}
const v194 = value["request"];
if (v194 !== undefined) {
if (!isObject(v194))
return false;
}
const v195 = value["request_ref"];
if (v195 !== undefined) {
if (!(typeof v195 === "string"))
return false;
if (!(v195.length >= 1))
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
