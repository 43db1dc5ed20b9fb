import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Looks at a library for Android as Android's tools do: {@code AarCheck AAR SOURCES STUBS FOLDER}. SOURCES has the library's
 * sources, STUBS those of the stubs that stand for Android. Puts its classes.jar into FOLDER.
 */
public final class AarCheck {
    private static final String ANDROID = "http://schemas.android.com/apk/res/android";
    private static final String METADATA = "META-INF/com/android/build/gradle/aar-metadata.properties";
    /** The class files of Java 8. */
    private static final int JAVA_8 = 52;

    private AarCheck() {
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, byte[]> aar = entries(new ByteArrayInputStream(Files.readAllBytes(Paths.get(arguments[0]))));
        TreeSet<String> names = new TreeSet<>(aar.keySet());
        // The format's own names, and no others: without resources there is no res.
        check(names.toString().equals("[AndroidManifest.xml, " + METADATA + ", R.txt, classes.jar]"), "entries " + names);
        check(aar.get("R.txt").length == 0, "R.txt names resources, and there is no res");
        Properties metadata = new Properties();
        metadata.load(new ByteArrayInputStream(aar.get(METADATA)));
        check("1.0".equals(metadata.get("aarFormatVersion")), "" + metadata);
        check("1.0".equals(metadata.get("aarMetadataVersion")), "" + metadata);
        Map<String, byte[]> classes = entries(new ByteArrayInputStream(aar.get("classes.jar")));
        classes(classes, arguments[1], arguments[2]);
        manifest(aar.get("AndroidManifest.xml"), classes);
        Path jar = Paths.get(arguments[3], "classes.jar");
        Files.write(jar, aar.get("classes.jar"));
        int linked = link(jar, classes);
        System.out.println("an aar with " + linked + " classes");
    }

    private static void check(boolean condition, String what) {
        if (!condition) {
            throw new IllegalStateException(what);
        }
    }

    private static Map<String, byte[]> entries(InputStream archive) throws IOException {
        Map<String, byte[]> found = new TreeMap<>();
        try (ZipInputStream input = new ZipInputStream(archive)) {
            for (ZipEntry entry = input.getNextEntry(); entry != null; entry = input.getNextEntry()) {
                check(!entry.isDirectory() && found.put(entry.getName(), input.readAllBytes()) == null, "twice " + entry);
            }
        }
        return found;
    }

    /** The classes that a folder of sources declares at its top level, as paths without ending. */
    private static List<String> declared(String folder) throws IOException {
        try (Stream<Path> files = Files.walk(Paths.get(folder))) {
            return files.map(Path::toString).map(path -> path.replace(File.separatorChar, '/'))
                    .filter(path -> path.endsWith(".java") && (path.contains("/src/main/") || !path.contains("/src/")))
                    .map(path -> path.replaceAll(".*/src/main/java/", "").replaceAll("\\.java$", ""))
                    .map(path -> path.startsWith(folder) ? path.substring(folder.length() + 1) : path)
                    .collect(Collectors.toList());
        }
    }

    private static void classes(Map<String, byte[]> classes, String sources, String stubs) throws IOException {
        TreeSet<String> top = new TreeSet<>();
        for (Map.Entry<String, byte[]> entry : classes.entrySet()) {
            check(entry.getKey().endsWith(".class"), entry.getKey() + " is no class");
            DataInputStream data = new DataInputStream(new ByteArrayInputStream(entry.getValue()));
            check(data.readInt() == 0xCAFEBABE && data.readInt() == JAVA_8, entry.getKey() + " is not of Java 8");
            // Each value that a stub has of a device says so; a constant of a stub would be in the class that reads it.
            String bytes = new String(entry.getValue(), StandardCharsets.ISO_8859_1);
            check(!bytes.contains("stub"), "a stub's value is in " + entry.getKey());
            top.add(entry.getKey().replaceAll("(\\$.*)?\\.class$", ""));
        }
        List<String> written = declared(sources);
        for (String expected : new String[] {"com/neolane/android/v1/Neolane", "io/pushmta/sdk/PushClient",
            "io/pushmta/sdk/android/PushMTA"}) {
            check(written.contains(expected), "the sources have no " + expected);
        }
        check(top.equals(new TreeSet<>(written)), "classes " + top + ", sources " + written);
        List<String> strangers = declared(stubs);
        check(strangers.contains("android/content/Context"), "stubs " + strangers);
        check(strangers.stream().noneMatch(top::contains), "a stub is in the library");
    }

    private static void manifest(byte[] text, Map<String, byte[]> classes) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setNamespaceAware(true);
        Element root = factory.newDocumentBuilder().parse(new ByteArrayInputStream(text)).getDocumentElement();
        check(root.getTagName().equals("manifest") && root.getAttribute("package").equals("io.pushmta.sdk.android"),
                new String(text, StandardCharsets.UTF_8));
        check(attributes(root, "uses-sdk", "minSdkVersion").equals("[21]"), "minSdkVersion");
        check(attributes(root, "uses-permission", "name").equals(
                "[android.permission.INTERNET, android.permission.ACCESS_NETWORK_STATE]"), "permissions");
        check(attributes(root, "provider", "authorities").equals("[${applicationId}.io.pushmta.sdk]"), "authorities");
        check(attributes(root, "provider", "exported").equals("[false]"), "exported");
        NodeList providers = root.getElementsByTagName("provider");
        for (int index = 0; index < providers.getLength(); index++) {
            String name = ((Element) providers.item(index)).getAttributeNS(ANDROID, "name");
            check(classes.containsKey(name.replace('.', '/') + ".class"), name + " is not in the library");
        }
    }

    private static String attributes(Element root, String tag, String name) {
        NodeList found = root.getElementsByTagName(tag);
        StringBuilder values = new StringBuilder();
        for (int index = 0; index < found.getLength(); index++) {
            values.append(index == 0 ? "" : ", ").append(((Element) found.item(index)).getAttributeNS(ANDROID, name));
        }
        return "[" + values + "]";
    }

    /** Loads each class from the library; the stubs are on this program's class path, the library's classes are not. */
    private static int link(Path jar, Map<String, byte[]> classes) throws Exception {
        try (URLClassLoader loader = new URLClassLoader(new URL[] {jar.toUri().toURL()}, AarCheck.class.getClassLoader())) {
            for (String path : classes.keySet()) {
                Class<?> loaded = Class.forName(path.replace(".class", "").replace('/', '.'), true, loader);
                check(loaded.getClassLoader() == loader, path + " comes from elsewhere");
                loaded.getDeclaredMethods();
            }
        }
        return classes.size();
    }
}
