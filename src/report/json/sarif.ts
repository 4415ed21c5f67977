/**
 * Problems as a SARIF 2.1.0 log (OASIS, errata 01) with one run: a rule for each code that occurs, a result for each problem. Code scanning
 * requires a place for every result, so a problem without a place is put at the beginning of the stack file.
 */
import { diagnosticCodes } from '../../model/diagnostic-codes.ts';
import { type BuiltInGuard, guardDefaults, policyOf } from '../../model/guard.ts';
import { guardTexts } from '../../model/guard-texts.ts';
import { counted, quoted } from '../../model/quoted.ts';
import type { Place, ShownDiagnostic } from '../../model/diagnostic.ts';
import type { CodeTable } from '../../model/code-entry.ts';
import { errorsFirst } from '../text/diagnostics.ts';
import { renderJson } from './render-json.ts';
import { printable } from '../view/printable.ts';

interface SarifOptions {
  /** of trueup */
  readonly version: string;
  /** for problems without a place */
  readonly stackFile: string;
  /** the path in the repository; undefined for a file outside of it */
  pathOf(file: string): string | undefined;
}

const catalogue: CodeTable = diagnosticCodes;

/** Code scanning refuses a log with more results. */
const maxResults = 25_000;
/** Code scanning does not show more related places, and refuses a result with more than 1,000. */
const maxRelated = 100;

export function renderSarif(diagnostics: readonly ShownDiagnostic[], options: SarifOptions): string {
  const shown =
    diagnostics.length <= maxResults ? diagnostics : errorsFirst(diagnostics).slice(0, maxResults);
  const codes = [...new Set(shown.map(({ code }) => code))].sort();
  return renderJson({
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'trueup', version: options.version, rules: codes.map(ruleOf) } },
        columnKind: 'utf16CodeUnits',
        ...(shown === diagnostics ? {} : { invocations: [cutNotice(diagnostics.length - shown.length)] }),
        results: shown.map((diagnostic) => resultOf(diagnostic, codes, options)),
      },
    ],
  });
}

function cutNotice(left: number): object {
  const text = `${counted(left, 'more problem')} without a result: a log has room for ${maxResults}`;
  return { executionSuccessful: true, toolExecutionNotifications: [{ level: 'warning', message: { text } }] };
}

function ruleOf(code: string): object {
  const entry = Object.hasOwn(catalogue, code) ? catalogue[code] : undefined;
  if (entry === undefined) return guardRule(code) ?? { id: printable(code) };
  return {
    id: code,
    shortDescription: { text: entry.title },
    help: { text: entry.fix },
    defaultConfiguration: { level: entry.warning ? 'warning' : 'error' },
  };
}

/** Guards of a plan are results as well, and have no entry in the catalogue of errors. */
function guardRule(code: string): object | undefined {
  if (isBuiltIn(code)) {
    const { title, trips, check } = guardTexts[code];
    return {
      id: code,
      shortDescription: { text: title },
      help: { text: `${trips} Before you acknowledge it: ${check}.` },
      defaultConfiguration: { level: guardDefaults[code] === 'warns' ? 'warning' : 'error' },
    };
  }
  const name = policyOf(code);
  if (name === undefined || !/^[a-z0-9-]+$/.test(name)) return undefined;
  const what =
    'Change the resource so that it follows the policy, or ask the owners of the policy to exempt it.';
  return {
    id: code,
    shortDescription: { text: `A change violates the policy ${quoted(name)}` },
    help: { text: `${what} Only a policy with the severity "confirm" can be acknowledged.` },
  };
}

function isBuiltIn(code: string): code is BuiltInGuard {
  return Object.hasOwn(guardTexts, code);
}

function resultOf(diagnostic: ShownDiagnostic, codes: readonly string[], options: SarifOptions): object {
  const { code, severity, message, place, found, allowed, fix, related = [] } = diagnostic;
  const lines = [
    message,
    ...(found === undefined ? [] : [`found: ${found}`]),
    ...(allowed === undefined ? [] : [`allowed: ${allowed}`]),
    ...(fix === undefined ? [] : [`fix: ${fix}`]),
  ];
  const relatedLocations = related.slice(0, maxRelated).flatMap((other) => {
    const location = other.place && physicalLocation(other.place, options);
    return location === undefined ? [] : [{ ...location, message: messageOf([other.message]) }];
  });
  const stackLocation = { physicalLocation: { artifactLocation: artifactOf(options.stackFile, options) } };
  return {
    ruleId: printable(code),
    ruleIndex: codes.indexOf(code),
    level: severity,
    message: messageOf(lines),
    locations: [(place && physicalLocation(place, options)) ?? stackLocation],
    ...(relatedLocations.length === 0
      ? {}
      : { relatedLocations: relatedLocations.map((location, id) => ({ id, ...location })) }),
  };
}

function physicalLocation({ file, line, column, length }: Place, options: SarifOptions): object | undefined {
  if (options.pathOf(file) === undefined) return undefined;
  const region = { startLine: line, startColumn: column, endColumn: column + length };
  return { physicalLocation: { artifactLocation: artifactOf(file, options), region } };
}

function artifactOf(file: string, { pathOf }: SarifOptions) {
  const path = pathOf(file) ?? file;
  return { uri: path.split('/').map(segmentText).join('/') };
}

/** Escapes a segment of a relative URI: a colon in the first segment would be read as the end of a scheme. */
function segmentText(segment: string): string {
  return encodeURIComponent(segment.toWellFormed());
}

/** Escapes square brackets, which would turn a text into a link (SARIF 3.11.6). */
function messageOf(lines: readonly string[]): { readonly text: string } {
  return { text: lines.map((line) => printable(line).replace(/[[\]\\]/g, '\\$&')).join('\n') };
}
