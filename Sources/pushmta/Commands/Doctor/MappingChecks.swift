import Store

/// Whether the views of target mappings can be used.
enum MappingChecks {
    /// One result a mapping; none if there are no mappings.
    static func results(_ store: Store) async -> [CheckResult] {
        do {
            var results: [CheckResult] = []
            for (row, problem) in try await store.mappings() {
                let subject = "target mapping \(row.name)"
                if let problem {
                    results.append(
                        CheckResult(
                            subject,
                            .failed,
                            "\(problem) Deliveries that use it wait, until their validity is over."
                        )
                    )
                    continue
                }
                let readsAll = try await store.readsWholeView(try await store.mapping(named: row.name))
                let slow =
                    "no index serves \(row.keyColumn): each look-up reads all of \(row.view). Create an index on the key."
                results.append(
                    readsAll
                        ? CheckResult(subject, .warning, slow)
                        : CheckResult(subject, .ok, "reads \(row.view) by \(row.keyColumn)")
                )
            }
            return results
        } catch {
            return [CheckResult("target mappings", .failed, "\(error)")]
        }
    }
}
