import PushCore

/// The start that was chosen for a draft, as it was typed. It stays with the draft, so the author who gets it back finds
/// the start again.
enum ChosenStart {
    /// The field that says whether it starts at a time, and its value if it does.
    static let kindField = "when"
    static let later = "later"

    /// The names of a draft's values. `pushmta_engine.console_start_fields` writes them, too.
    enum Name {
        private static let prefix = "start."
        static let kind = prefix + "when"
        static let time = prefix + "at"
        static let zone = prefix + "zone"
    }

    /// Takes the start from a form. A form without it changes nothing.
    static func take(_ form: FormParameters, into fields: inout [String: String]) {
        guard let kind = form[kindField] else { return }
        let time = (form[Composer.momentField] ?? "").trimmed
        fields[Name.kind] = kind == later ? later : nil
        fields[Name.time] = time.isEmpty ? nil : time
        fields[Name.zone] = time.isEmpty ? nil : form[Composer.zoneField]
    }
}
