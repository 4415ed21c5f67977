import { describe, expect, it } from 'vitest';

import {
  compareVersions,
  isExactVersion,
  parseConstraint,
} from '../../../../src/server/workspaces/engine-releases.ts';

const VERSIONS = ['0.15.4', '1.2.0', '1.9.0', '1.9.8', '1.10.0-beta1', '1.10.0', '1.10.5', '2.0.0'];

describe('A constraint allows', () => {
  it.each([
    ['1.9.8', ['1.9.8']],
    ['= 1.9.8', ['1.9.8']],
    ['1.9', ['1.9.0']],
    ['~> 1.9.0', ['1.9.0', '1.9.8']],
    ['~> 1.9.1', ['1.9.8']],
    ['~> 1.9', ['1.9.0', '1.9.8', '1.10.0', '1.10.5']],
    ['~> 1', ['1.2.0', '1.9.0', '1.9.8', '1.10.0', '1.10.5', '2.0.0']],
    ['>= 1.9.8', ['1.9.8', '1.10.0', '1.10.5', '2.0.0']],
    ['> 1.9.8, < 2', ['1.10.0', '1.10.5']],
    ['>=1.2,<=1.9', ['1.2.0', '1.9.0']],
    ['< 1', ['0.15.4']],
    ['!= 1.9.8, ~> 1.9.0', ['1.9.0']],
    ['1.10.0-beta1', ['1.10.0-beta1']],
    ['~> 1.10.0-beta1', ['1.10.0-beta1', '1.10.0', '1.10.5']],
    ['~> 9.0', []],
  ])('%s: %j', (text, expected) => {
    expect(VERSIONS.filter((version) => parseConstraint(text)?.(version))).toEqual(expected);
  });
});

it.each(['', ' ', 'newest', '~>', '1.x', '1.2.3.4', '>= 1.2,', '=> 1.2', '1.2 1.3', 'v1.2.3'])(
  '"%s" is not a constraint',
  (text) => {
    expect(parseConstraint(text)).toBeUndefined();
  },
);

it('Versions are ordered by their numbers, and a pre-release comes before its version', () => {
  const ordered = ['0.9.10', '0.15.4', '1.9.8', '1.10.0-alpha2', '1.10.0-beta1', '1.10.0-beta10', '1.10.0'];
  expect(ordered.toReversed().sort(compareVersions)).toEqual(ordered);
});

it('An exact version has all three numbers', () => {
  const texts = ['1.9.8', '1.10.0-rc1', '1.9', '~> 1.9.0', '= 1.9.8', 'latest', ''];
  expect(texts.filter(isExactVersion)).toEqual(['1.9.8', '1.10.0-rc1']);
});
