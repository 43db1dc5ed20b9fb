import java.io.File;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import javax.xml.parsers.DocumentBuilderFactory;
import org.xml.sax.InputSource;

/**
 * Compiles the samples within the apps: {@code SampleBuild FOLDER OUT CLASSPATH}, FOLDER with {@code samples} and {@code app}.
 * An app's sources are written to {@code OUT/APP/source}, its classes to {@code OUT/APP/classes}.
 *
 * <p>A sample goes into its app's file as it is, but for the lines in {@code corrections.txt} and omissions, which become
 * comments. Ends with 1 when something does not compile, a sample is in no app, or a correction fits nowhere.
 */
public final class SampleBuild {
    private static final String MARK = "@SAMPLE ";

    private final Path folder;
    private final Map<String, String> samples = new HashMap<>();
    private final TreeSet<String> unused = new TreeSet<>();

    private SampleBuild(Path folder) {
        this.folder = folder;
    }

    public static void main(String[] arguments) throws Exception {
        SampleBuild build = new SampleBuild(Paths.get(arguments[0]));
        build.read();
        build.correct();
        int apps = 0;
        for (File app : sorted(build.folder.resolve("app"))) {
            if (!app.getName().equals("shared")) {
                build.compile(app.toPath(), Paths.get(arguments[1], app.getName()), arguments[2]);
                apps++;
            }
        }
        if (!build.unused.isEmpty()) {
            throw new IllegalStateException("in no app: " + build.unused);
        }
        System.out.println("compiled " + build.samples.size() + " samples in " + apps + " apps");
    }

    private static List<File> sorted(Path folder) {
        File[] files = folder.toFile().listFiles();
        return files == null ? new ArrayList<>() : Arrays.stream(files).sorted().collect(Collectors.toList());
    }

    private static String text(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }

    private void read() throws IOException {
        for (File group : sorted(folder.resolve("samples"))) {
            for (File file : sorted(group.toPath())) {
                String name = group.getName() + "/" + file.getName();
                samples.put(name, text(file.toPath()));
                unused.add(name);
            }
        }
    }

    /** Of each sample, and of each line of corrections, exactly one. */
    private void correct() throws IOException {
        for (String entry : text(folder.resolve("samples/corrections.txt")).split("\n\n")) {
            String[] lines = entry.split("\n");
            if (lines[0].startsWith("#")) {
                continue;
            }
            String sample = samples.get(lines[0]);
            boolean isEntry = lines.length == 4 && lines[2].startsWith("- ") && lines[3].startsWith("+ ");
            String old = isEntry ? "\n" + lines[2].substring(2) + "\n" : "";
            String all = "\n" + sample;
            if (sample == null || !isEntry || all.indexOf(old) < 0 || all.indexOf(old) != all.lastIndexOf(old)) {
                throw new IllegalStateException("corrections.txt: this fits no line, or several:\n" + entry);
            }
            samples.put(lines[0], all.replace(old, "\n" + lines[3].substring(2) + "\n").substring(1));
        }
    }

    private void compile(Path app, Path out, String classpath) throws Exception {
        List<File> sources = new ArrayList<>();
        Files.createDirectories(out.resolve("source"));
        Files.createDirectories(out.resolve("classes"));
        List<File> files = new ArrayList<>(sorted(app));
        files.addAll(sorted(folder.resolve("app/shared")));
        for (File file : files) {
            Path written = out.resolve("source").resolve(file.getName());
            String text = filled(text(file.toPath()), file.getName().endsWith(".java"));
            Files.write(written, text.getBytes(StandardCharsets.UTF_8));
            if (file.getName().endsWith(".xml")) {
                DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(text)));
            } else {
                sources.add(written.toFile());
            }
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            List<String> options = Arrays.asList("--release", "8", "-Xlint:-options", "-d", out.resolve("classes").toString(),
                    "-cp", classpath);
            if (!compiler.getTask(null, manager, null, options, null, manager.getJavaFileObjectsFromFiles(sources)).call()) {
                throw new IllegalStateException(app.getFileName() + " does not compile");
            }
        }
    }

    private String filled(String template, boolean isJava) {
        return Stream.of(template.split("\n", -1)).map(line -> {
            if (!line.startsWith(MARK)) {
                return line;
            }
            String name = line.substring(MARK.length());
            String sample = samples.get(name);
            if (sample == null) {
                throw new IllegalStateException("no sample " + name);
            }
            unused.remove(name);
            return isJava ? withoutOmissions(sample) : sample;
        }).collect(Collectors.joining("\n"));
    }

    /** Three dots or more outside of strings and comments, and such in brackets, become comments. */
    static String withoutOmissions(String sample) {
        return Stream.of(sample.split("\n", -1)).map(line -> {
            boolean isComment = line.trim().startsWith("//");
            return isComment ? line : line.replaceAll("\\[\\.{3,}\\]|(?<!\\[)\\.{3,}", "/*$0*/");
        }).collect(Collectors.joining("\n"));
    }
}
