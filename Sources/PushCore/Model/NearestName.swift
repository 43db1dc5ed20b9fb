/// Finds the name that a mistyped one was probably meant to be.
package enum NearestName {
    /// The candidate with the smallest edit distance to `name`, ignoring case; nil if none is near.
    ///
    /// - Parameter within: The maximum edit distance. The default is a third of the name's length and at least two,
    ///   which covers two swapped letters; beyond that a match would be a guess.
    package static func nearest(to name: String, among candidates: some Sequence<String>, within: Int? = nil) -> String?
    {
        let within = within ?? max(2, name.utf8.count / 3)
        let wanted = Array(name.lowercased().utf8)
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            let distance = distance(wanted, Array(candidate.lowercased().utf8))
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best.flatMap { $0.distance > within ? nil : $0.name }
    }

    /// The Levenshtein distance.
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var row = Array(0...b.count)
        for i in a.indices {
            var diagonal = row[0]
            row[0] = i + 1
            for j in b.indices {
                let substitution = diagonal + (a[i] == b[j] ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(substitution, diagonal + 1, row[j] + 1)
            }
        }
        return row[b.count]
    }
}
