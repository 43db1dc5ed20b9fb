import PostgresClient

extension Store {
    /// Runs a closure with the connection; refusals of the schema's own functions become ``StoreError``.
    func with<T: Sendable>(_ body: (PostgresConnection) async throws -> T) async throws -> T {
        do {
            return try await keeper.withConnection(body)
        } catch let error as PostgresError {
            if let refusal = StoreError(error) { throw refusal }
            throw error
        }
    }

    /// Runs one statement in a transaction of its own.
    @discardableResult
    func query(_ sql: String, _ parameters: [PostgresValue] = []) async throws -> PostgresResult {
        try await with { try await $0.execute(PostgresStatement(sql, parameters)) }
    }

    /// Runs statements as one transaction in one round trip.
    @discardableResult
    func group(_ statements: [PostgresStatement]) async throws -> [PostgresResult] {
        try await with { try await $0.execute(statements) }
    }

    /// Runs a transaction with the connection to itself.
    func transaction<T: Sendable>(_ body: (PostgresTransaction) async throws -> T) async throws -> T {
        try await with { try await $0.transaction(.readCommitted, body) }
    }

    /// Reads the first row of an answer, or throws `notFound` with these words.
    func first<T>(
        _ result: PostgresResult,
        orThrow message: @autoclosure () -> String,
        hint: String? = nil,
        _ read: (PostgresResult, Int) throws -> T
    ) throws -> T {
        guard result.rowCount > 0 else { throw StoreError(.notFound, message(), hint: hint) }
        return try read(result, 0)
    }

    /// Reads all rows of an answer.
    func all<T>(_ result: PostgresResult, _ read: (PostgresResult, Int) throws -> T) rethrows -> [T] {
        try (0..<result.rowCount).map { try read(result, $0) }
    }

    /// Reads a column whose text is a case of an enumeration.
    func choice<T: RawRepresentable<String>>(_ result: PostgresResult, _ row: Int, _ column: Int) throws -> T {
        try Self.choice(result, row, column)
    }

    static func choice<T: RawRepresentable<String>>(_ result: PostgresResult, _ row: Int, _ column: Int) throws -> T {
        let text = try result.text(row, column)
        guard let value = T(rawValue: text) else {
            throw StoreError(.unexpectedAnswer, "The database says \"\(text)\" where a \(T.self) belongs.")
        }
        return value
    }
}

extension PostgresResult {
    /// A moment, nil for NULL.
    func timeOrNil(_ row: Int, _ column: Int) throws -> DatabaseTime? {
        try timestampOrNil(row, column).map(DatabaseTime.init(microsecondsSince2000:))
    }

    /// A moment.
    func time(_ row: Int, _ column: Int) throws -> DatabaseTime {
        DatabaseTime(microsecondsSince2000: try timestamp(row, column))
    }
}
