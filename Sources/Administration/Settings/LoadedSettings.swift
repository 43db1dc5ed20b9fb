import PushCore

/// Settings, with the source of each value.
package struct LoadedSettings: Sendable {
    package var values = Settings()
    /// The source of each key that is not at its default.
    package var sources: [String: SettingSource] = [:]
    /// The file that was read, if any.
    package var file: String?

    /// The source of the value of `key` in words: the path of the file, or the name of the variable.
    package func origin(of key: String) -> SettingOrigin {
        let definition = Settings.definitions.first { $0.key == key }
        switch source(of: key) {
        case .default: return SettingOrigin("\(key), which is not set")
        case .file: return SettingOrigin("\(key) (file \(file ?? "of the settings"))")
        case .environment:
            return SettingOrigin("\(key) (environment, \(definition.map { SettingsLoader.variable(of: $0) } ?? ""))")
        case .flag: return SettingOrigin("\(key) (\(key == "database.url" ? "--database or --set" : "--set"))")
        }
    }

    /// The source of the value of `key`.
    package func source(of key: String) -> SettingSource {
        sources[key] ?? .default
    }
}

/// The source of the value of a setting.
package enum SettingSource: String, Sendable {
    case `default`
    case file
    case environment
    case flag
}
