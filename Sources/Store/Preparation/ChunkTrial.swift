import PostgresClient
import PushCore

/// How messages of a delivery that was not analysed are tried before the first of them may leave.
package struct ChunkTrial: Sendable {
    /// Renders messages, and says whether they may leave.
    package protocol Judge: Sendable {
        /// - Parameter isUsual: whether a message, by its row, was not chosen for the length of its values.
        mutating func add(_ loaded: LoadedPart, isUsual: (Int) -> Bool)

        /// Why the messages must not leave.
        ///
        /// - Parameter all: the number of messages from which the added ones were chosen.
        func problems(among all: Int64) -> [DeliveryProblem]
    }

    /// What is read of an application's messages, and how they are judged.
    package struct Route: Sendable {
        let application: Int32
        let fields: MessageFields
        /// The number of the variant that the messages are rendered with; 0 if the delivery is no experiment.
        let variant: Int16
        let judge: any Judge

        package init(application: Int32, fields: MessageFields, variant: Int16 = 0, judge: any Judge) {
            self.application = application
            self.fields = fields
            self.variant = variant
            self.judge = judge
        }
    }

    /// The messages show that the delivery must not be sent as it is. Nothing of it was prepared.
    package struct Refusal: Error {
        package let problems: [DeliveryProblem]
    }

    /// The number of messages of an application that are tried, as in a sample of an analysis.
    package static let size: Int32 = 1_000
    /// The number of parts that are read together if all messages are tried.
    private static let partsAtOnce = 10

    let routes: [Route]
    /// Whether all messages are tried, not a sample.
    let triesAll: Bool

    package init(routes: [Route], triesAll: Bool = false) {
        self.routes = routes
        self.triesAll = triesAll
    }

    /// Tries messages of a delivery for each application, in the transaction that has just made their parts, or is about
    /// to release them.
    ///
    /// - Parameter limit: the maximum number of messages of an application, if all are tried.
    ///
    /// Throws ``Refusal`` if they must not leave.
    func run(delivery: Int64, limit: Int64, _ transaction: PostgresTransaction) async throws {
        let problems =
            triesAll
            ? try await problemsOfAll(delivery, limit, transaction) : try await problemsOfSample(delivery, transaction)
        guard problems.isEmpty else { throw Refusal(problems: problems) }
    }

    private func problemsOfSample(_ delivery: Int64, _ transaction: PostgresTransaction) async throws
        -> [DeliveryProblem]
    {
        let note = PostgresStatement(
            "SELECT pushmta_engine.note_longest($1, $2)",
            // Those that are in the other half of the sample, too, are left out of it.
            [.int64(delivery), .int32(Self.size)]
        )
        let forget = PostgresStatement(
            "DELETE FROM pushmta_engine.delivery_longest WHERE delivery_id = $1",
            [.int64(delivery)]
        )
        let samples = routes.map {
            Store.sampleStatement(of: delivery, application: $0.application, limit: Self.size, $0.fields)
        }
        let results = try await transaction.execute([note] + samples + [forget])
        var problems: [DeliveryProblem] = []
        for (route, rows) in zip(routes, results.dropFirst()) {
            let sample = try HeldSample(rows, route.fields)
            guard sample.all > 0 else { continue }
            var judge = route.judge
            judge.add(sample.messages) { !sample.areLongest[$0] }
            problems += judge.problems(among: sample.all)
        }
        return problems
    }

    private func problemsOfAll(_ delivery: Int64, _ limit: Int64, _ transaction: PostgresTransaction) async throws
        -> [DeliveryProblem]
    {
        let found = try await transaction.execute(
            PostgresStatement(Self.partsSQL, [.int64(delivery), .int64(limit)])
        )
        let parts = try found.all(Part.init)
        var problems: [DeliveryProblem] = []
        for route in routes {
            var judge = route.judge
            var rest = parts.filter { $0.application == route.application && $0.shows(route.variant) }[...]
            guard !rest.isEmpty else { continue }
            var messages: Int64 = 0
            while let first = rest.first {
                let some = rest.prefix(Self.partsAtOnce)
                rest = rest.dropFirst(Self.partsAtOnce)
                let rows = try await transaction.execute(
                    PostgresStatement(
                        Store.sharedSQL(route.fields, variables: some.contains(where: \.hasVariables)),
                        [.date(daysSince2000: first.logDay), .int64Array(some.map(\.id))] + route.fields.parameters
                    )
                )
                var loaded = LoadedPart(room: rows.rowCount, for: route.fields)
                for row in 0..<rows.rowCount { try loaded.append(shared: rows, row, route.fields) }
                judge.add(loaded) { _ in true }
                messages += Int64(loaded.count)
            }
            problems += judge.problems(among: messages)
        }
        return problems
    }

    /// A part whose messages are all tried.
    private struct Part {
        let id: Int64
        let application: Int32
        let hasVariables: Bool
        let logDay: Int32
        private let variant: Int16

        init(_ row: inout RowReader) throws {
            id = try row.int64()
            application = try row.int32()
            hasVariables = try row.bool()
            logDay = try row.date()
            variant = try row.int16()
        }

        /// Whether its messages can show a variant: those of the rest may show any.
        func shows(_ wanted: Int16) -> Bool { variant == 0 || wanted == 0 || variant == wanted }
    }

    private static let partsSQL = """
        SELECT q.id, q.application_id, q.has_variables, q.log_day, q.variant
        FROM (SELECT p.id, p.application_id, p.has_variables, p.log_day, coalesce(p.variant, 0::smallint) AS variant,
                sum(p.size) OVER (PARTITION BY p.application_id ORDER BY p.id) - p.size AS before
            FROM pushmta_engine.delivery_part p WHERE p.delivery_id = $1 AND p.parent_part_id IS NULL) q
        WHERE q.before < $2 ORDER BY q.id
        """
}
