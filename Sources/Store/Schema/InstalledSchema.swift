import PostgresClient
import PushCore

/// The schema that is installed in a database.
enum InstalledSchema: Sendable, Equatable {
    case none
    /// The schema of a program before version 1, whose list of steps had another form.
    case beforeVersion1
    /// These versions, each with the checksums of its files by name.
    case versions([Int32: [String: String]])

    /// Reads it from the database.
    static func read(_ connection: PostgresConnection) async throws -> InstalledSchema {
        let form = try await connection.execute(PostgresStatement(formSQL, prepare: false))
        let (isThere, hasChecksums, mayRead) = try form.one { row in
            (try row.bool(), try row.bool(), try row.bool())
        }
        guard isThere else { return .none }
        guard hasChecksums else { return .beforeVersion1 }
        let rows = try await connection.execute(
            PostgresStatement(
                "SELECT version, file, checksum FROM \(mayRead ? "pushmta_engine" : "pushmta").schema_version",
                prepare: false
            )
        )
        var versions: [Int32: [String: String]] = [:]
        try rows.each { row in
            let (version, file) = (try row.int32(), try row.text())
            versions[version, default: [:]][file] = try row.text()
        }
        return versions.isEmpty ? .none : .versions(versions)
    }

    /// The highest installed version, 0 if there is none.
    var number: Int32 {
        if case .versions(let versions) = self { versions.keys.max() ?? 0 } else { 0 }
    }

    /// Checks that a program that knows these versions can upgrade the database.
    ///
    /// Throws ``StoreError`` of code `schema` if the schema is newer, or a different one.
    func check(known: [SchemaVersion]) throws(StoreError) {
        switch self {
        case .none: return
        case .beforeVersion1: throw .developmentSchema("has the schema of a development version before version 1")
        case .versions(let versions):
            let newest = known.last?.number ?? 0
            guard number <= newest else { throw .newerSchema(number, program: newest) }
            for version in known where version.number <= number {
                let there = versions[version.number] ?? [:]
                let wanted = Dictionary(uniqueKeysWithValues: version.files.map { ($0.name, $0.checksum) })
                guard let other = Set(there.keys).union(wanted.keys).filter({ there[$0] != wanted[$0] }).min() else {
                    continue
                }
                throw .developmentSchema("was made with another \(other) than this program's")
            }
        }
    }

    /// Every role may read the catalogues; a role with monitoring rights only may not read schema pushmta_engine.
    private static let formSQL = """
        SELECT c.oid IS NOT NULL, EXISTS (SELECT FROM pg_attribute a
                WHERE a.attrelid = c.oid AND a.attname = 'checksum' AND NOT a.attisdropped),
            coalesce(has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT'), false)
        FROM (VALUES (1)) one
        LEFT JOIN pg_namespace n ON n.nspname = 'pushmta_engine'
        LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = 'schema_version'
        """
}
