/// What an app says about the categories of messages that its user wants; a category that it does not name stays as it
/// is.
package struct CategoryChoices: Sendable, Hashable {
    /// The categories that the user does not want.
    package private(set) var outs: Set<String> = []
    /// The categories that the user wants again.
    package private(set) var ins: Set<String> = []

    /// Names no category.
    package init() {}

    /// Reads the parameters of a registration: names with commas between them. A name in both is an opt-out.
    package init(outs: String, ins: String) {
        self.outs = Self.names(outs)
        self.ins = Self.names(ins).subtracting(self.outs)
    }

    /// The opt-outs as the database reads them; nil for none.
    package var outText: String? { Self.text(outs) }
    /// The opt-ins as the database reads them; nil for none.
    package var inText: String? { Self.text(ins) }

    /// Takes over what an earlier registration says about categories that this one does not name.
    package mutating func fill(from earlier: CategoryChoices) {
        let (earlierOuts, earlierIns) = (earlier.outs.subtracting(ins), earlier.ins.subtracting(outs))
        outs.formUnion(earlierOuts)
        ins.formUnion(earlierIns)
    }

    private static func names(_ text: String) -> Set<String> {
        Set(text.split(separator: ",").map { KeyText.trimmed(String($0)).lowercased() }.filter { !$0.isEmpty })
    }

    private static func text(_ names: Set<String>) -> String? {
        names.isEmpty ? nil : names.sorted().joined(separator: ",")
    }
}
