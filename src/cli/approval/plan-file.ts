/**
 * Reads plan files, and only those that trueup wrote. A file that was edited, or has a version that this trueup does not know, is
 * refused before anything is compared with it.
 */
import { resolve } from 'node:path';
import { megabyte, readRegularText, UnfitFile } from '../../files/read-regular.ts';
import { compileSchema, type SchemaError } from '../../manifest/schema/compile-schema.ts';
import type { DiagnosticCode } from '../../model/diagnostic-codes.ts';
import type { Json } from '../../model/json/json.ts';
import { secretPlaceholder } from '../../model/redaction/known-secrets.ts';
import { jsonSchema } from '../../model/kind/json-schema.ts';
import { type Plan, planVersion } from '../../model/plan/plan.ts';
import { quoted } from '../../model/quoted.ts';
import { digestOf, digestVersion, formerDigestOf } from '../../plan/approval/digest.ts';
import { planSchema } from '../../report/json/plan-schema.ts';
import { isPlanFile, readPlan } from '../../report/json/read-plan.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';

export interface PlanFile {
  /** as the user typed it */
  readonly file: string;
  readonly plan: Plan;
}

/** Why a file cannot be used as a plan, and the exit code of an apply of it. */
export interface PlanFileRefusal {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly exit: ExitCode;
}

export function isRefusal(value: object): value is PlanFileRefusal {
  return 'message' in value && 'exit' in value;
}

const unreadable: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
};

/** The maximal size of a plan file in bytes, some ten thousand times that of a usual one. */
export const maxPlanSize = 256 * megabyte;

const folderReason = 'it is a directory, and no file that "trueup plan --out" wrote';

/** The plan in a file, or why it cannot be used. @param file as the user typed it */
export async function openPlanFile(file: string, cwd: string): Promise<PlanFile | PlanFileRefusal> {
  const text = await readRegularText(resolve(cwd, file), maxPlanSize).catch(
    (error: NodeJS.ErrnoException) => error,
  );
  if (typeof text !== 'string') {
    const isFolder = text instanceof UnfitFile && text.obstacle === 'folder';
    const why = isFolder ? folderReason : (unreadable[text.code ?? ''] ?? text.message);
    return {
      code: 'plan-unreadable',
      exit: exitCodes.error,
      message: `the plan ${quoted(file)} cannot be read: ${why}`,
    };
  }
  const read = readPlan(text, { check });
  switch (read.is) {
    case 'no-plan':
      return {
        code: 'not-a-plan',
        exit: exitCodes.error,
        message: `${quoted(file)} is no plan: ${read.why}; make one with "trueup plan --out plan.json"`,
      };
    case 'other-version':
      return planAgain(
        file,
        `has version ${JSON.stringify(read.version)}, and this trueup reads version ${planVersion}`,
      );
    case 'malformed':
      return edited(file, read.why);
    case 'plan':
      return checked(file, read.plan);
  }
}

/** The digest is always made anew from what the file shows. */
function checked(file: string, plan: Plan): PlanFile | PlanFileRefusal {
  const isCurrent = plan.digestVersion === digestVersion;
  if (!isCurrent && (plan.digestVersion !== 2 || JSON.stringify(plan.changes).includes(secretPlaceholder)))
    return planAgain(
      file,
      `has a digest of version ${plan.digestVersion}, which this trueup cannot check against what the file shows`,
    );
  return plan.digest === (isCurrent ? digestOf(plan) : formerDigestOf(plan))
    ? { file, plan }
    : edited(file, `its digest ${quoted(plan.digest)} is not that of its changes`);
}

/** Refuses to apply a plan whose digest was made in another way: it does not cover all that an approval covers today. */
export function refuseFormerDigest({ file, plan }: PlanFile): PlanFileRefusal | undefined {
  return plan.digestVersion === digestVersion
    ? undefined
    : planAgain(file, 'was made by an earlier trueup, whose digests cover less');
}

function planAgain(file: string, why: string): PlanFileRefusal {
  return {
    code: 'plan-version',
    exit: exitCodes.stale,
    message: `the plan ${quoted(file)} ${why}: plan again, and approve again`,
  };
}

/** Whether a path of a command line means a plan file: by its content, or by its name when that ends in `.json`. */
export async function meansPlanFile(file: string, cwd: string): Promise<boolean> {
  const path = resolve(cwd, file);
  const text = await readRegularText(path, maxPlanSize).catch((error: unknown) => error);
  // A file that is too long is not read, so its name decides; opening it as a plan reports its size.
  if (text instanceof UnfitFile && text.obstacle === 'too-long') return file.endsWith('.json');
  if (typeof text !== 'string') return false;
  const value = text.trimStart().startsWith('{') ? parsed(text) : undefined;
  if (value !== undefined && isPlanFile(value)) return true;
  const isStack = typeof value === 'object' && value !== null && 'kind' in value;
  return file.endsWith('.json') && !isStack;
}

export function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function edited(file: string, why: string): PlanFileRefusal {
  return {
    code: 'plan-edited',
    exit: exitCodes.stale,
    message: `the plan ${quoted(file)} is not as trueup wrote it: ${why}; plan again, a plan cannot be edited`,
  };
}

/** Unknown members are accepted: a newer trueup may have written them into a plan of the same version. */
function check(value: Json): readonly string[] {
  return compileSchema(planSchema, () => jsonSchema(planSchema))(value)
    .filter(({ keyword }) => keyword !== 'additionalProperties')
    .map(errorText);
}

function errorText({ instancePath, message = 'does not fit the schema' }: SchemaError): string {
  return `${instancePath === '' ? 'it' : quoted(instancePath)} ${message}`;
}
