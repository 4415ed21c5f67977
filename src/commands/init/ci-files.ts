/**
 * The CI files that init copies: the examples themselves, and the action. In the bundle, their texts replace this file
 * (scripts/bundle-plugins.ts).
 */
import { readFileSync } from 'node:fs';

/** Relative to the root of the package. */
const paths = [
  'action.yml',
  'examples/ci/github/pull-request.yml',
  'examples/ci/github/apply.yml',
  'examples/ci/gitlab/.gitlab-ci.yml',
] as const;

export const ciTexts = Object.fromEntries(
  paths.map((path) => [path, readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')]),
) as Readonly<Record<(typeof paths)[number], string>>;
