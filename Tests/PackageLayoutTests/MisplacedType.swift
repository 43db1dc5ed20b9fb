/// A type that other files use and that stands in a file of another name.
struct MisplacedType: Equatable {
    let path: String
    let name: String
    let lines: Int
    /// The number of other files that use it.
    let users: Int

    /// The file that it belongs into.
    var properPath: String { path.split(separator: "/").dropLast().joined(separator: "/") + "/\(name).swift" }

    /// The misplaced types of files that have at least this many lines or users. Both `Type.swift` and
    /// `Type+Topic.swift` are files of a type's name.
    static func all(in files: [SourceFile], lines: Int, users: Int) -> [MisplacedType] {
        let words = files.map(\.capitalisedWords)
        var found: [MisplacedType] = []
        for (place, file) in files.enumerated() {
            let fileName = (file.path.split(separator: "/").last ?? "").prefix { $0 != "+" && $0 != "." }
            for type in TopLevelType.all(in: file.code) where type.visibility != .file && type.name != fileName {
                let count = files.indices.count { other in
                    other != place && words[other].contains(type.name)
                        && (type.visibility == .package || files[other].target == file.target)
                }
                guard count > 0, type.lines >= lines || count >= users else { continue }
                found.append(MisplacedType(path: file.path, name: type.name, lines: type.lines, users: count))
            }
        }
        return found
    }
}
