/// A registered view in which user keys reconcile with people, as it can be read now.
public struct TargetMapping: Sendable, Hashable {
    /// Its id.
    public let id: Int32
    /// Its name, unique.
    public let name: String
    /// Its name for people.
    public let label: String
    /// The view with its schema, each in quotes where it needs them: it stands in SQL as it is.
    public let view: String
    /// The column that holds the user keys.
    public let keyColumn: MappingColumn
    /// All columns that may be read, the key too.
    public let columns: [MappingColumn]

    /// The column of a name.
    ///
    /// Throws `invalid` if the view has none that may be read.
    public func column(_ name: String) throws -> MappingColumn {
        if let column = columns.first(where: { $0.name == name }) { return column }
        throw StoreError(
            .invalid,
            "The view of target mapping \"\(self.name)\" has no column \"\(name)\" that may be read.",
            hint: "pushmta mapping show \(self.name) lists its columns"
        )
    }

    /// What an operator reads of it.
    var viewText: String { "the view \(view) of target mapping \"\(name)\"" }

    /// Checks that all of these columns are there, for a delivery that was started.
    ///
    /// Throws `unavailable` if one is not: as the view itself it may be there again, while somebody makes the view anew.
    func require(_ names: some Sequence<String>) throws {
        do {
            for name in names { _ = try column(name) }
        } catch let error as StoreError {
            throw StoreError(.unavailable, error.message, hint: error.hint)
        }
    }
}
