@echo off
rem The launcher on Windows: the same as bin/cv (read that one first). "cv COMMAND ..." is "python -m backend COMMAND ..."
rem in the environment CV_HOME\environments\KEY; a hook never makes it and always ends with 0; so does a command with
rem --inline, which says on stdout what is wrong.
setlocal EnableExtensions DisableDelayedExpansion

for %%I in ("%~dp0..") do set "CV_ROOT=%%~fI"
set "CV_LAUNCHER=%CV_ROOT%\bin\cv.cmd"
if not defined CV_HOME set "CV_HOME=%LOCALAPPDATA%\context-vigilance"
for %%I in ("%CV_HOME%") do set "CV_HOME=%%~fI"

set "CV_COMMAND=%~1"
set "CV_INLINE="
if not "%CV_COMMAND%"=="hook" call :look_for_inline %*
rem PYTHONPATH parts its folders with a semicolon, and there is no way to write one that belongs to a name.
if not "%CV_ROOT:;=%"=="%CV_ROOT%" (
  if "%CV_COMMAND%"=="hook" exit /b 0
  echo cv: the plugin lies in a folder with a semicolon in its name, where Python cannot find it: move it
  if defined CV_INLINE exit /b 0
  exit /b 1
)
set "CV_LIST=%CV_ROOT%\requirements.txt"
if "%CV_COMMAND%"=="test" set "CV_LIST=%CV_ROOT%\requirements-dev.txt"
set "CV_KEY="
if exist "%CV_LIST%" for /f "usebackq tokens=1-3" %%A in ("%CV_LIST%") do (
  if "%%B"=="key:" set "CV_KEY=%%C"
  goto :key_read
)
:key_read
if not defined CV_KEY (
  if "%CV_COMMAND%"=="hook" exit /b 0
  if defined CV_INLINE (
    echo cv: "%CV_LIST%" is missing or damaged: reinstall the plugin
    exit /b 0
  )
  echo cv: "%CV_LIST%" is missing or damaged: reinstall the plugin>&2
  exit /b 1
)
set "CV_ENVIRONMENT=%CV_HOME%\environments\%CV_KEY%"
set "CV_PYTHON=%CV_ENVIRONMENT%\Scripts\python.exe"

rem These change how any Python starts, speaks or ends; the caller meant them for another one.
for %%V in (PYTHONHOME PYTHONSTARTUP PYTHONINSPECT PYTHONOPTIMIZE PYTHONDEBUG PYTHONVERBOSE PYTHONWARNINGS) do set "%%V="
for %%V in (PYTHONIOENCODING PYTHONUTF8 PYTHONPLATLIBDIR PYTHONEXECUTABLE PYTHONCASEOK PYTHONDEVMODE) do set "%%V="
for %%V in (PYTHONPROFILEIMPORTTIME PYTHONTRACEMALLOC PYTHONMALLOC PYTHONMALLOCSTATS PYTHONHASHSEED PYTHONDONTWRITEBYTECODE) do set "%%V="
for %%V in (PYTHONSAFEPATH PYTHONBREAKPOINT PYTHONFAULTHANDLER PYTHONLEGACYWINDOWSSTDIO) do set "%%V="
set "PYTHONPATH=%CV_ROOT%"

if exist "%CV_ENVIRONMENT%\ready" if exist "%CV_PYTHON%" goto :run
if "%CV_COMMAND%"=="hook" goto :hook_not_ready
if defined CV_INLINE (
  rem Never made here: the person would look at a command that hangs.
  echo Context Vigilance is not set up yet: type /cv-init ^(about a minute, once^).
  exit /b 0
)

rem --- make the environment ---
for %%V in (3.13 3.12 3.11 3.14) do (
  py -%%V -I -c "" >nul 2>nul && set "CV_BASE=py -%%V" && goto :make
)
for %%P in (python3 python) do (
  %%P -I -c "import sys; sys.exit(not ((3, 11) <= sys.version_info[:2] <= (3, 14)))" >nul 2>nul && set "CV_BASE=%%P" && goto :make
)
rem None there: uv knows the ones it manages, and can fetch one.
for %%V in (3.13 3.12 3.11) do (
  for /f "delims=" %%U in ('uv python find --no-project --system %%V 2^>nul') do set CV_BASE="%%U"&& goto :make
)
uv --version >nul 2>nul || goto :no_python
echo Context Vigilance: no Python 3.11 to 3.13 here; asking uv for one>&2
uv python install --quiet 3.13 >nul
for /f "delims=" %%U in ('uv python find --no-project --system 3.13 2^>nul') do set CV_BASE="%%U"&& goto :make
:no_python
if not exist "%CV_HOME%\environments" mkdir "%CV_HOME%\environments" 2>nul
(echo {"systemMessage": "Context Vigilance: its set-up failed: there is no Python 3.11 to 3.13. Install one (python.org, winget), then type /cv-init."}) >"%CV_ENVIRONMENT%.note" 2>nul
echo cv: no Python 3.11 to 3.13 found (looked for py, python3, python, uv): install one from python.org or with "winget install Python.Python.3.13", and run this again>&2
exit /b 1
:make
%CV_BASE% -I "%CV_ROOT%\backend\setup\environment.py" --requirements "%CV_LIST%" --home "%CV_HOME%" || exit /b 1

:run
if "%CV_COMMAND%"=="hook" (
  "%CV_PYTHON%" -P -s -X utf8 -m backend %*
  exit /b 0
)
if "%CV_COMMAND%"=="test" goto :test
if defined CV_INLINE (
  "%CV_PYTHON%" -P -s -X utf8 -m backend %*
  exit /b 0
)
"%CV_PYTHON%" -P -s -X utf8 -m backend %*
exit /b %ERRORLEVEL%

:test
rem All arguments but the first.
set "CV_REST="
:next_argument
shift /1
if "%~1"=="" goto :run_tests
set CV_REST=%CV_REST% %1
goto :next_argument
:run_tests
cd /d "%CV_ROOT%"
"%CV_PYTHON%" -P -s -X utf8 -m pytest %CV_REST%
exit /b %ERRORLEVEL%

:hook_not_ready
if not "%~2"=="session-start" exit /b 0
rem KEY.note, which environment.py writes: how a set-up that did not end well has ended. Said once, as is that there was none.
if exist "%CV_ENVIRONMENT%.note" (
  move /y "%CV_ENVIRONMENT%.note" "%CV_ENVIRONMENT%.said" >nul 2>nul && type "%CV_ENVIRONMENT%.said"
  exit /b 0
)
if exist "%CV_ENVIRONMENT%.said" exit /b 0
if not exist "%CV_HOME%\environments" mkdir "%CV_HOME%\environments" 2>nul
(type nul >"%CV_ENVIRONMENT%.said") 2>nul || exit /b 0
echo {"systemMessage": "Context Vigilance is installed but not set up yet: type /cv-init (about a minute, once).", "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "Context Vigilance is not set up on this machine: its commands do not work before the user has typed /cv-init and that has ended well. Do not install anything yourself."}}
exit /b 0

:look_for_inline
if "%~1"=="" exit /b 0
if "%~1"=="--inline" set "CV_INLINE=yes"
shift
goto :look_for_inline
