import ArgumentParser

/// How many rows a list shows at most.
struct RowLimit: ParsableArguments {
    @Option(name: .customLong("limit"), help: "How many at most, from 1 to 100000.")
    var rows: Int = 50

    /// A number that PostgreSQL refuses would end as trouble with the database, which it is not.
    func validate() throws {
        guard (1...100_000).contains(rows) else {
            throw ValidationError("--limit is \(rows): give a number from 1 to 100000.")
        }
    }
}
