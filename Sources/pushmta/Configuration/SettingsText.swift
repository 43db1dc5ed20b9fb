import PushCore

/// Writes settings as a file.
enum SettingsText {
    /// The settings that differ from their defaults, as YAML: keys are nested, values in JSON form, which is YAML, too.
    static func yaml(_ settings: Settings) -> String {
        let defaults = Settings()
        var open: [String] = []
        var lines: [String] = []
        for definition in Settings.definitions where definition.text(in: settings) != definition.text(in: defaults) {
            let parts = definition.components
            let shared = zip(open, parts.dropLast()).prefix { $0 == $1 }.count
            for depth in shared..<parts.count - 1 { lines.append(indentation(depth) + parts[depth] + ":") }
            open = Array(parts.dropLast())
            lines.append(indentation(parts.count - 1) + parts[parts.count - 1] + ": " + value(of: definition, settings))
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func indentation(_ depth: Int) -> String {
        String(repeating: "  ", count: depth)
    }

    private static func value(of definition: SettingDefinition, _ settings: Settings) -> String {
        let text = definition.text(in: settings)
        switch definition.access {
        case .integer, .flag: return text
        case .text, .choice, .timeOfDay: return JSONText.quoted(text)
        }
    }
}
