/** Runs `trueup doctor --format json`, and checks its output against the schema. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import type { Finding } from '../../../src/commands/doctor/finding.ts';
import { doctorSchema } from '../../../src/commands/doctor/schema.ts';
import { type HostOptions, trueup } from '../captured-host.ts';

const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(doctorSchema);

export interface DoctorReport {
  readonly code: number;
  readonly stack?: string;
  readonly healthy: boolean;
  readonly summary: { readonly errors: number; readonly warnings: number };
  readonly findings: readonly Finding[];
  /** stdout and stderr */
  readonly written: string;
  /** the findings of one check, optionally of one target, as `level id` */
  of(check: Finding['check'], target?: string): string[];
  /** the only finding with this id */
  one(id: Finding['id'], target?: string): Finding;
}

/** @param args further arguments */
export async function runDoctor(options: HostOptions, ...args: readonly string[]): Promise<DoctorReport> {
  const { code, out, err } = await trueup(['doctor', '--format', 'json', ...args], options);
  return parseDoctorReport(code, out, err);
}

export function parseDoctorReport(code: number | null, out: string, err: string): DoctorReport {
  const answer = JSON.parse(out);
  expect(isValid(answer), JSON.stringify(isValid.errors)).toBe(true);
  const findings: readonly Finding[] = answer.findings;
  const isOf = (finding: Finding, target: string | undefined) =>
    target === undefined || finding.target === target;
  return {
    ...answer,
    code,
    written: `${out}${err}`,
    of: (check, target) =>
      findings
        .filter((finding) => finding.check === check && isOf(finding, target))
        .map(({ level, id }) => `${level} ${id}`),
    one: (id, target) => {
      const found = findings.filter((finding) => finding.id === id && isOf(finding, target));
      expect(found, out).toHaveLength(1);
      return found[0] as Finding;
    },
  };
}
