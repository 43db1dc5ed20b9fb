/// One record of a CSV file.
struct CSVRecord: Sendable, Equatable {
    /// The number of its first line; 1 for the first line of the file.
    let line: Int
    /// The number of lines that it takes: more than one if a quoted value has line ends, or a quote is not closed.
    let lines: Int
    /// Its fields, without quotes.
    let fields: [String]
    /// What is wrong with its form, if anything.
    let problem: String?
}
