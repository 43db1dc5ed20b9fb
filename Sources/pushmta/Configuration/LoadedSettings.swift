import PushCore

/// Settings with the place each value came from.
struct LoadedSettings: Sendable {
    /// The values.
    var values = Settings()
    /// The source of each key that is not at its default.
    var sources: [String: SettingSource] = [:]
    /// The file that was read, if any.
    var file: String?

    /// Where the value of `key` came from.
    func source(of key: String) -> SettingSource {
        sources[key] ?? .default
    }
}
