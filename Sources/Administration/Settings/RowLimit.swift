import ArgumentParser

/// The maximum number of rows that a list shows.
package struct RowLimit: ParsableArguments {
    package init() {}

    @Option(name: .customLong("limit"), help: "The maximum number of rows, from 1 to 100000.")
    package var rows: Int = 50

    /// A number that PostgreSQL refuses would be reported as a database error, which it is not.
    package func validate() throws {
        guard (1...100_000).contains(rows) else {
            throw ValidationError("--limit is \(rows): give a number from 1 to 100000.")
        }
    }
}
