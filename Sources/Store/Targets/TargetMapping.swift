import PushCore

/// A target mapping: a registered view that maps user keys to people, with the columns that can be read now.
package struct TargetMapping: Sendable, Hashable {
    package let id: Int32
    /// Unique.
    package let name: String
    /// The display name.
    package let label: String
    /// The view's name with its schema, quoted where necessary, ready for use in SQL.
    package let view: String
    /// The column that holds the user keys.
    package let keyColumn: MappingColumn
    /// All readable columns, the key included.
    package let columns: [MappingColumn]

    /// The column with a name.
    ///
    /// Throws `invalid` if the view has no such readable column.
    package func column(_ name: String) throws -> MappingColumn {
        if let column = columns.first(where: { $0.name == name }) { return column }
        throw StoreError(
            .invalid,
            "The view of target mapping \"\(self.name)\" has no column \"\(name)\" that may be read.",
            hint: "pushmta mapping show \(self.name) lists its columns"
        )
    }

    /// The mapping's view, for operators.
    var viewText: String { "the view \(view) of target mapping \"\(name)\"" }

    /// Checks that all of these columns exist, for a delivery that was started.
    ///
    /// Throws `unavailable` if one does not: like a missing view, it may return when the view is created again.
    func require(_ names: some Sequence<String>) throws {
        do {
            for name in names { _ = try column(name) }
        } catch let error as StoreError {
            throw StoreError(.unavailable, error.message, hint: error.hint)
        }
    }
}

/// The statement that reads a mapping's view.
extension TargetMapping {
    /// Reads columns of some user keys' rows, for ``ViewReader``. The result is a list of the keys that have a row, and
    /// then a list for each column. If a key has several rows, any one of them is used.
    ///
    /// - Parameters:
    ///   - columns: text expressions over alias `m`.
    ///   - oneByOne: whether each key is looked up separately, so that a view that computes something over many rows
    ///     does not compute it for all. For thousands of keys, one read of the view is faster.
    func readSQL(_ columns: [String], oneByOne: Bool) -> String {
        let list = columns.enumerated().map { ", \($1) AS c\($0)" }.joined()
        let names = ["user_key"] + columns.indices.map { "c\($0)" }
        let condition = keyColumn.keyCondition
        let found =
            oneByOne
            ? """
            SELECT k.user_key, m.* FROM unnest($1) k(user_key)
                CROSS JOIN LATERAL (SELECT true AS is_there\(list) FROM \(view) m WHERE \(condition) LIMIT 1) m
            """
            : """
            SELECT DISTINCT ON (k.user_key) k.user_key\(list) FROM unnest($1) k(user_key) JOIN \(view) m ON \(condition)
                ORDER BY k.user_key
            """
        return """
            SELECT x.list FROM (SELECT \(names.map { "array_agg(f.\($0)) AS \($0)" }.joined(separator: ", ")) FROM (\(found)) f) a
            CROSS JOIN LATERAL (VALUES \(names.enumerated().map { "(\($0), a.\($1))" }.joined(separator: ", "))) x(place, list)
            ORDER BY x.place
            """
    }
}
