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
    private static let size: Int64 = 1_000
    /// The number of parts that are read together if all messages are tried.
    private static let partsAtOnce = 10

    let routes: [Route]
    /// Whether all messages are tried, not a sample, if there are few enough.
    let triesAll: Bool
    /// The maximum number of messages that are rendered, for all applications and variants together.
    private let most: Int64
    /// If all messages are tried, no more are read after this time.
    private let longest: Duration

    /// The delivery's row is locked meanwhile, so a trial must be short: to read 50,000 messages takes 0.9 s.
    package init(
        routes: [Route],
        triesAll: Bool = false,
        most: Int64 = 50_000,
        longest: Duration = .seconds(1)
    ) {
        self.routes = routes
        self.triesAll = triesAll
        self.most = most
        self.longest = longest
    }

    /// Tries messages of a delivery for each application, in the transaction that has just made their parts, or is about
    /// to release them.
    ///
    /// Throws ``Refusal`` if they must not leave.
    func run(delivery: Int64, _ transaction: PostgresTransaction) async throws {
        let problems: [DeliveryProblem]
        if triesAll, let parts = try await readParts(of: delivery, transaction) {
            problems = try await problemsOfAll(parts, transaction)
        } else {
            problems = try await problemsOfSample(delivery, transaction)
        }
        guard problems.isEmpty else { throw Refusal(problems: problems) }
    }

    /// Each message is read once for all variants that an application's messages may show.
    private func problemsOfSample(_ delivery: Int64, _ transaction: PostgresTransaction) async throws
        -> [DeliveryProblem]
    {
        let limit = Int32(clamping: max(1, min(Self.size, most / Int64(max(1, routes.count)))))
        let readings = self.readings
        let samples = readings.map {
            Store.sampleStatement(of: delivery, application: $0.application, limit: limit, $0.fields)
        }
        let results = try await transaction.execute(samples)
        var problems: [DeliveryProblem] = []
        for (reading, rows) in zip(readings, results) {
            let sample = try DeliverySample(rows, reading.fields)
            guard sample.all > 0 else { continue }
            for route in reading.routes {
                var judge = route.judge
                judge.add(sample.messages.with(route.fields, of: reading.fields)) { !sample.areLongest[$0] }
                problems += judge.problems(among: sample.all)
            }
        }
        return problems
    }

    /// What is read of each application.
    private struct Reading {
        let application: Int32
        let routes: [Route]
        /// The fields of all its routes.
        let fields: MessageFields

        init(_ application: Int32, _ routes: [Route]) {
            self.application = application
            self.routes = routes
            fields = MessageFields(all: routes.map(\.fields))
        }
    }

    private var readings: [Reading] {
        var known: Set<Int32> = []
        let applications = routes.map(\.application).filter { known.insert($0).inserted }
        return applications.map { application in
            Reading(application, routes.filter { $0.application == application })
        }
    }

    /// The parts of a delivery; nil if they have too many messages to try all.
    private func readParts(of delivery: Int64, _ transaction: PostgresTransaction) async throws -> [Part]? {
        let applications = Set(routes.map(\.application)).sorted()
        let found = try await transaction.execute(
            PostgresStatement(Self.partsSQL, [.int64(delivery), .int32Array(applications), .int64(most)])
        )
        let parts = try found.all(Part.init)
        let messages = parts.reduce(Int64(0)) { $0 + $1.size }
        let rendered = parts.reduce(Int64(0)) { sum, part in
            sum + part.size * Int64(routes.count(where: { part.isShown(by: $0) }))
        }
        return max(messages, rendered) <= most ? parts : nil
    }

    private func problemsOfAll(_ parts: [Part], _ transaction: PostgresTransaction) async throws -> [DeliveryProblem] {
        let began = ContinuousClock.now
        var judges = routes.map(\.judge)
        var messages = [Int64](repeating: 0, count: routes.count)
        for batch in Self.batches(parts) {
            guard let first = batch.first else { continue }
            let places = routes.indices.filter { first.isShown(by: routes[$0]) }
            guard !places.isEmpty else { continue }
            let fields = MessageFields(all: places.map { routes[$0].fields })
            let rows = try await transaction.execute(
                PostgresStatement(
                    Store.sharedSQL(fields, variables: batch.contains(where: \.hasVariables)),
                    [.date(daysSince2000: first.logDay), .int64Array(batch.map(\.id))] + fields.parameters
                )
            )
            var loaded = LoadedPart(room: rows.rowCount, for: fields)
            for row in 0..<rows.rowCount { try loaded.append(shared: rows, row, fields) }
            for place in places {
                judges[place].add(loaded.with(routes[place].fields, of: fields)) { _ in true }
                messages[place] += Int64(loaded.count)
            }
            if ContinuousClock.now - began > longest { break }
        }
        return zip(judges, messages).filter { $0.1 > 0 }.flatMap { $0.0.problems(among: $0.1) }
    }

    /// Parts that are read together: of one application and variant, in the order of their making.
    private static func batches(_ parts: [Part]) -> [[Part]] {
        let kinds = Dictionary(grouping: parts) { [Int32($0.variant), $0.application] }
        let batches = kinds.values.flatMap { parts in
            stride(from: 0, to: parts.count, by: partsAtOnce).map { Array(parts[$0...].prefix(partsAtOnce)) }
        }
        return batches.sorted { $0[0].id < $1[0].id }
    }

    /// A part whose messages are all tried.
    private struct Part {
        let id: Int64
        let application: Int32
        let hasVariables: Bool
        let logDay: Int32
        let variant: Int16
        let size: Int64

        init(_ row: inout RowReader) throws {
            id = try row.int64()
            application = try row.int32()
            hasVariables = try row.bool()
            logDay = try row.date()
            variant = try row.int16()
            size = try row.int64()
        }

        /// Whether a route can render its messages: those of the rest may show any variant.
        func isShown(by route: Route) -> Bool {
            application == route.application && (variant == 0 || route.variant == 0 || variant == route.variant)
        }
    }

    /// One part more than the limit allows shows that there are too many messages.
    private static let partsSQL = """
        SELECT q.id, q.application_id, q.has_variables, q.log_day, q.variant, q.size
        FROM (SELECT p.id, p.application_id, p.has_variables, p.log_day, coalesce(p.variant, 0::smallint) AS variant,
                p.size::bigint AS size, sum(p.size) OVER (ORDER BY p.id) - p.size AS before
            FROM pushmta_engine.delivery_part p
            WHERE p.delivery_id = $1 AND p.application_id = ANY($2) AND p.parent_part_id IS NULL) q
        WHERE q.before <= $3 ORDER BY q.id
        """
}
