const HASH = `sha256:${'a'.repeat(64)}`;

/** A document that a test may change in any place. */
export type Document = Record<string, unknown>;

function file(filename: string) {
  return { filename, content_hash: HASH, size_bytes: 12 };
}

function fixture(key: string, expected_result: string, expected_score: number | null = null) {
  return {
    key,
    stage_key: 'measure',
    description: `An answer that is ${expected_result}.`,
    inputs: {
      reference: { labels: file('labels.csv') },
      artifacts: [{ role: 'predictions', ...file('predictions.csv') }],
      summary_text: null as string | null,
    },
    expected_result,
    expected_score,
  };
}

/** A published score contract with every kind of stage, a sealed slot and fixtures. */
export function publishedContract() {
  return {
    id: 'vct_01jf90aa4rrc',
    verifier_id: 'vfr_01jm4nq8xw1p',
    version_number: 1,
    title: 'Accuracy on held-out labels',
    statement_md: 'Verified when every row is predicted. The score is the share of right ones.',
    reference_inputs: [
      {
        key: 'labels',
        required: true,
        sealed: true,
        media_types: ['text/csv'],
        max_bytes: 65_536,
        description: 'One label a row.',
      },
      {
        key: 'columns',
        required: false,
        sealed: false,
        media_types: [],
        max_bytes: 1_024,
        description: 'The names of the columns.',
      },
    ],
    stages: [
      {
        key: 'form',
        kind: 'sandbox',
        title: 'Form',
        description_md: 'A label for every row.',
        reference_input_slots: ['columns'],
        result_kind: 'pass_fail',
      },
      {
        key: 'measure',
        kind: 'sandbox',
        title: 'Accuracy',
        description_md: 'Compares with the labels.',
        evidence_schema: { type: 'object', required: ['rows'] } as unknown,
        reference_input_slots: ['labels', 'columns'],
      },
      {
        key: 'reading',
        kind: 'review',
        title: 'Reading',
        description_md: 'Somebody reads how it was done.',
        review_protocol_id: 'rpt_01jf90aa4rrc',
      },
      {
        key: 'measured',
        kind: 'external',
        title: 'Laboratory',
        description_md: 'A laboratory measures a sample.',
        rule_owner: 'contract',
        external_system: 'The laboratory at Example',
        evidence_schema: { type: 'object' } as unknown,
        acceptance: { field: '/phase/fraction', op: 'gte', value: 0.5 as unknown },
      },
      {
        key: 'accepted',
        kind: 'external',
        title: 'Registry',
        description_md: 'The registry takes it.',
        rule_owner: 'partner',
        external_system: 'The registry of Example',
      },
    ] as Document[],
    submission_requirements: {
      accepts_text_only: false,
      answer_format_md: null as string | null,
      required_artifacts: [
        {
          role: 'predictions',
          description: 'One label a row.',
          media_types: ['text/csv'],
          max_bytes: 65_536,
        },
      ],
    },
    result_kind: 'score',
    score: {
      unit: 'accuracy',
      direction: 'higher_is_better',
      description: 'The share of rows that are right.',
    } as Document | null,
    conformance_fixtures: [
      fixture('all_right', 'verified', 1),
      fixture('a_row_short', 'refuted'),
      fixture('no_table', 'inconclusive'),
    ],
    created_by_user_id: 'usr_01jf90aa4rrc',
    created_at: '2026-09-05T09:10:00Z',
    yanked_at: null as string | null,
  };
}
export type PublishedContract = ReturnType<typeof publishedContract>;

/** The same acceptance without a number: a pass_fail contract whose one stage is a program. */
export function passFailContract(): PublishedContract {
  const contract = publishedContract();
  const [, measure = {}] = contract.stages;
  return {
    ...contract,
    reference_inputs: contract.reference_inputs.map((slot) => ({ ...slot, sealed: false })),
    stages: [measure],
    result_kind: 'pass_fail',
    score: null,
    conformance_fixtures: contract.conformance_fixtures.map((each) => ({
      ...each,
      expected_score: null,
    })),
  };
}
