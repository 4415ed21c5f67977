/**
 * Why bytes are no certificate, in the words of the service's library, which names the first part that is amiss.
 */

const SEQUENCE = 0x30;
const INTEGER = 0x02;
const EXPLICIT_VERSION = 0xa0;

/** An element of DER: its tag, what it holds, and what stands behind it. */
interface Element {
  readonly whole: Buffer;
  readonly content: Buffer;
  readonly rest: Buffer;
}

export function certificateProblem(der: Buffer): string {
  return `x509: ${partAmiss(der)}`;
}

function partAmiss(der: Buffer): string {
  const outer = element(der, SEQUENCE);
  if (outer === undefined) return 'malformed certificate';
  if (outer.rest.length > 0) return 'trailing data';
  const signed = element(outer.content, SEQUENCE);
  if (signed === undefined) return 'malformed tbs certificate';
  const version = element(signed.content, EXPLICIT_VERSION);
  const serial = element(version?.rest ?? signed.content, INTEGER);
  if (serial === undefined) return 'malformed serial number';
  const inner = element(serial.rest, SEQUENCE);
  if (inner === undefined) return 'malformed signature algorithm identifier';
  const algorithm = element(signed.rest, SEQUENCE);
  if (algorithm === undefined) return 'malformed algorithm identifier';
  if (!inner.whole.equals(algorithm.whole))
    return "inner and outer signature algorithm identifiers don't match";
  return 'malformed certificate';
}

/** The element of this tag at the start of the bytes; lengths are definite and as short as can be, as DER wants them. */
function element(bytes: Buffer, tag: number): Element | undefined {
  const first = bytes[1];
  if (bytes[0] !== tag || first === undefined) return undefined;
  const more = first < 0x80 ? 0 : first & 0x7f;
  if (first === 0x80 || more > 4 || bytes.length < 2 + more) return undefined;
  const length = more === 0 ? first : bytes.readUIntBE(2, more);
  const start = 2 + more;
  if (bytes.length < start + length || (more > 0 && length < 0x80)) return undefined;
  return {
    whole: bytes.subarray(0, start + length),
    content: bytes.subarray(start, start + length),
    rest: bytes.subarray(start + length),
  };
}
