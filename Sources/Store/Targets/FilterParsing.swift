import PostgresClient
import PushCore

/// The database parses filters, so those that are set in SQL are checked too.
extension Store {
    /// Parses a filter's text.
    package func parseFilter(_ text: String) async throws -> Result<TargetFilter, TargetFilterError> {
        let parsed = try await parseFilters([text])
        guard let first = parsed.first else {
            throw StoreError(.unexpectedAnswer, "The database returned no result for a filter.")
        }
        return first
    }

    /// Parses the texts of filters in one statement.
    ///
    /// - Returns: the filter, or the error, of each text, in the same order.
    package func parseFilters(_ texts: [String]) async throws -> [Result<TargetFilter, TargetFilterError>] {
        guard !texts.isEmpty else { return [] }
        let refusals = texts.map(Self.refusal)
        let readable = zip(texts, refusals).map { text, refusal -> String? in refusal == nil ? text : "" }
        let parsed = try all(try await query(Self.parseSQL, [.textArray(readable)]), Self.parsedFilter)
        guard parsed.count == texts.count else {
            throw StoreError(
                .unexpectedAnswer,
                "The database returned \(parsed.count) results for \(texts.count) filters."
            )
        }
        return zip(parsed, refusals).map { parsed, refusal -> Result<TargetFilter, TargetFilterError> in
            if let refusal { .failure(refusal) } else { parsed }
        }
    }

    private static let parseSQL = """
        SELECT p.tree::text, p."position", p.code, p.cause, p.remedy
        FROM unnest($1::text[]) WITH ORDINALITY u(filter, n)
        CROSS JOIN LATERAL pushmta_engine.parse_filter(u.filter) p ORDER BY u.n
        """

    private static func parsedFilter(_ row: inout RowReader) throws -> Result<TargetFilter, TargetFilterError> {
        let tree = try row.textOrNil()
        let position = try row.int32OrNil()
        let code = try row.textOrNil()
        let cause = try row.textOrNil()
        let remedy = try row.textOrNil()
        if let tree { return .success(try filter(tree: tree)) }
        return .failure(
            TargetFilterError(
                code.flatMap { TargetFilterError.Code(rawValue: $0) } ?? .syntax,
                at: position.map { Int($0) },
                cause ?? "",
                remedy ?? ""
            )
        )
    }

    /// The filter of a tree from the database.
    static func filter(tree: String) throws -> TargetFilter {
        do {
            return try TargetFilter(treeText: tree)
        } catch {
            throw StoreError(
                .unexpectedAnswer,
                "The database returned a filter in a form that this program does not support.",
                hint:
                    "check with pushmta doctor that schema and program have the same version; if they do, report this as a bug"
            )
        }
    }

    /// A parsed filter, for callers that require one.
    ///
    /// Throws `invalid` with the position and the reason if the text is not a filter.
    static func usable(_ parsed: Result<TargetFilter, TargetFilterError>) throws -> TargetFilter {
        switch parsed {
        case .success(let filter): return filter
        case .failure(let error): throw StoreError(.invalid, "\(error)")
        }
    }

    /// The error for a text with U+0000, which no statement can carry; nil for any other text.
    private static func refusal(_ text: String) -> TargetFilterError? {
        guard let zero = text.unicodeScalars.enumerated().first(where: { $0.element.value == 0 }) else { return nil }
        return TargetFilterError(
            .syntax,
            at: zero.offset + 1,
            "it has the character U+0000, which PostgreSQL cannot store",
            "remove it"
        )
    }
}
