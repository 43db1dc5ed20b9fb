import PostgresClient
import PushCore

/// How messages of a delivery that was not analysed are tried before the first of them may leave.
package struct ChunkTrial: Sendable {
    /// What is read of an application's messages, and how they are judged.
    package struct Route: Sendable {
        let application: Int32
        let fields: MessageFields
        let problems: @Sendable (LoadedPart) -> [DeliveryProblem]

        package init(
            application: Int32,
            fields: MessageFields,
            problems: @escaping @Sendable (LoadedPart) -> [DeliveryProblem]
        ) {
            self.application = application
            self.fields = fields
            self.problems = problems
        }
    }

    /// The messages show that the delivery must not be sent as it is. Nothing of it was prepared.
    package struct Refusal: Error {
        package let problems: [DeliveryProblem]
    }

    /// The number of messages of an application that are tried, as in a sample of an analysis.
    private static let size: Int32 = 1_000

    let routes: [Route]

    package init(routes: [Route]) {
        self.routes = routes
    }

    /// Tries the first messages of a delivery for each application, in the transaction that has just made their parts,
    /// or is about to release them.
    ///
    /// Throws ``Refusal`` if they must not leave.
    func run(delivery: Int64, _ transaction: PostgresTransaction) async throws {
        let found = try await transaction.execute(
            PostgresStatement(Self.partsSQL, [.int64(delivery), .int32(Self.size)])
        )
        let parts = try found.all(Parts.init)
        let tried = routes.compactMap { route in
            parts.first { $0.application == route.application }.map { (route: route, parts: $0) }
        }
        guard !tried.isEmpty else { return }
        let results = try await transaction.execute(tried.map { $0.parts.statement($0.route.fields) })
        var problems: [DeliveryProblem] = []
        for ((route, _), rows) in zip(tried, results) {
            var loaded = LoadedPart(room: rows.rowCount, for: route.fields)
            for row in 0..<rows.rowCount { try loaded.append(shared: rows, row, route.fields) }
            problems += route.problems(loaded)
        }
        guard problems.isEmpty else { throw Refusal(problems: problems) }
    }

    /// The first parts of an application.
    private struct Parts {
        let application: Int32
        private let ids: [Int64]
        private let haveVariables: Bool
        private let logDay: Int32

        init(_ row: inout RowReader) throws {
            application = try row.int32()
            ids = try row.int64Array()
            haveVariables = try row.bool()
            logDay = try row.date()
        }

        func statement(_ fields: MessageFields) -> PostgresStatement {
            PostgresStatement(
                "\(Store.sharedSQL(fields, variables: haveVariables)) LIMIT \(ChunkTrial.size)",
                [.date(daysSince2000: logDay), .int64Array(ids)] + fields.parameters
            )
        }
    }

    private static let partsSQL = """
        SELECT q.application_id, array_agg(q.id ORDER BY q.id), bool_or(q.has_variables), min(q.log_day)
        FROM (SELECT p.application_id, p.id, p.has_variables, p.log_day,
                sum(p.size) OVER (PARTITION BY p.application_id ORDER BY p.id) - p.size AS before
            FROM pushmta_engine.delivery_part p WHERE p.delivery_id = $1) q
        WHERE q.before < $2 GROUP BY q.application_id
        """
}
