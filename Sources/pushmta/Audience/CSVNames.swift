import Administration
import PushCore

/// The names in the first line of a file.
struct CSVNames {
    let names: [String]
    /// The file and the line, for people.
    let place: String

    /// Reads the first record of a file.
    ///
    /// - Throws: `CommandFailure` if the record is malformed.
    init(_ record: CSVRecord, file: String) throws {
        place = "\(file), line \(record.line)"
        if let problem = record.problem { throw CommandFailure(.data, "\(place): \(problem)") }
        names = record.fields.map(KeyText.trimmed)
    }

    /// - Throws: `CommandFailure` if a name appears twice.
    func requireDistinct() throws {
        guard let twice = names.first(where: { name in names.filter { $0 == name }.count > 1 }) else { return }
        throw CommandFailure(.data, "\(place): two columns are named \(twice). Rename or remove one.")
    }

    /// - Throws: `CommandFailure` if a name is almost a known one: it would silently be taken for something else.
    /// - Parameter other: advice for a name that is meant as written.
    func requireNoNearName(of known: [String], other: (String) -> String) throws {
        for name in names where !known.contains(name) {
            guard let near = Self.near(name, among: known) else { continue }
            let advice = ["\(place): there is no column \(name); rename it to \(near).", other(name)]
            throw CommandFailure(.data, advice.filter { !$0.isEmpty }.joined(separator: " "))
        }
    }

    /// The letters and digits of a name in lower case: user_key, "User Key" and userKey are the same.
    static func folded(_ name: String) -> String {
        String(name.lowercased().filter { $0.isLetter || $0.isNumber })
    }

    /// One letter added, missing or wrong is a slip; two may make another word.
    private static func near(_ name: String, among known: [String]) -> String? {
        let folds = known.map(folded)
        let wanted = folded(name)
        guard let nearest = NearestName.nearest(to: wanted, among: folds, within: 1) else { return nil }
        return folds.firstIndex(of: nearest).map { known[$0] }
    }
}
