/// One record of a CSV file.
struct CSVRecord: Sendable, Equatable {
    /// The number of its first line, 1 for the first.
    let line: Int
    /// Its fields, quotes taken away.
    let fields: [String]
    /// What is wrong with its form, if anything.
    let problem: String?
}
