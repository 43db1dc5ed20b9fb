/// Where the value of a setting came from.
enum SettingSource: String, Sendable {
    case `default`
    case file
    case environment
    case flag
}
