/// Rejects unknown keys, so that a misspelt fault does not go unnoticed.
enum StrictKeys {
    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Throws if the object has an unknown key.
    static func check(_ decoder: any Decoder, known: [String]) throws {
        let present = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
        guard let stranger = present.sorted().first(where: { !known.contains($0) }) else { return }
        throw DecodingError.dataCorrupted(
            .init(
                codingPath: decoder.codingPath,
                debugDescription: "unknown key \"\(stranger)\"; the known keys are \(known.joined(separator: ", "))"
            )
        )
    }
}
