import CLibPQ

/// Connection options as libpq reads them; those without a value are left out.
enum ConnectionOptions {
    /// The options in a connection string or URI; none if it is only a database's name or cannot be read.
    static func parse(_ connectionString: String) -> [String: String] {
        take(PQconninfoParse(connectionString, nil))
    }

    /// libpq's defaults, with the `PG*` environment.
    static func defaults() -> [String: String] {
        take(PQconndefaults())
    }

    private static func take(_ options: UnsafeMutablePointer<PQconninfoOption>?) -> [String: String] {
        guard let options else { return [:] }
        defer { PQconninfoFree(options) }
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return values
    }
}
