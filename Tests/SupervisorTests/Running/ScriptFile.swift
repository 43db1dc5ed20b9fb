import SystemPackage

/// A shell script that replaces the children's executable.
enum ScriptFile {
    /// Reports that it is idle after one message, and exits on request or when its supervisor is gone.
    static let obedient = """
        status idle 1
        while read -r line; do
            case "$line" in *drain*|*fastShutdown*) exit 0;; esac
        done
        """

    /// Parses the child's command line and can write a status line.
    private static let prelude = """
        #!/bin/sh
        echo "$@" > "$0.arguments"
        while [ $# -gt 0 ]; do
            case "$1" in
                --generation) generation=$2;;
                --journal) journal=$2;;
            esac
            shift
        done
        echo $$ > "$journal.pid"
        status() {
            echo "{\\"version\\":1,\\"status\\":{\\"generation\\":$generation,\\"report\\":{\\"pid\\":$$,\\"state\\":\\"$1\\",\\
        \\"counts\\":{\\"sent\\":$2},\\"resident_bytes\\":1048576,\\"progress\\":1}}}"
        }

        """

    static func path(in folder: TemporaryFolder) -> FilePath { folder.path.appending("child.sh") }

    static func write(_ script: String, in folder: TemporaryFolder) throws {
        let file = path(in: folder).string
        try Data((prelude + script + "\n").utf8).write(to: URL(filePath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file)
    }

    /// The command line of the last child that was started.
    static func arguments(in folder: TemporaryFolder) -> String {
        let data = FileManager.default.contents(atPath: path(in: folder).string + ".arguments")
        return String(decoding: data ?? Data(), as: UTF8.self)
    }
}

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
